//! Lists of values whose length native code cannot exceed.

use core::ffi::c_void;

use ferrite_core::Any;
use ferrite_core::platform::memory::{AllocError, Buffer};

use crate::machine::Machine;

/// First half of the word before a list; the number of its values is the other.
const MARK: u32 = u32::from_le_bytes(*b"list");

/// Words before the values: the address of the machine that runs the code, for lists of registers;
/// a word that is not 0 after a failed access; and [`MARK`] with the length.
const HEADER: usize = 3;

/// Additional words, so that the values start where they must.
const PADDING: usize = 1;

/// Words of a value.
const VALUE: usize = size_of::<Any>() / size_of::<u64>();

/// An array of values, in the layout that native code expects, with its length before it.
///
/// The array starts 8 bytes behind a multiple of 16. Arrays of other runtimes come from their heap,
/// whose blocks start at multiples of 16 on 64-bit hosts: they are told apart without reading what
/// is before them.
pub(crate) struct ValueList {
    /// The block, accessed only through `start`.
    _words: Buffer<u64>,
    /// The first value.
    start: *mut Any,
    len: usize,
}

// SAFETY: a list owns values, which may be sent.
unsafe impl Send for ValueList {}
// SAFETY: a shared list gives shared values only.
unsafe impl Sync for ValueList {}

impl Default for ValueList {
    fn default() -> Self {
        ValueList { _words: Buffer::new(), start: core::ptr::dangling_mut(), len: 0 }
    }
}

impl ValueList {
    /// Creates a list of `len` values, all None.
    pub(crate) fn try_new(len: usize) -> Result<ValueList, AllocError> {
        let mut words = Buffer::new();
        let count = len.checked_mul(VALUE).and_then(|count| count.checked_add(HEADER + PADDING));
        // A value of zeros is None.
        words.try_resize(count.ok_or(AllocError::new(usize::MAX))?, 0u64)?;
        let block = words.as_mut_slice().as_mut_ptr();
        let first = HEADER + if block.addr().is_multiple_of(16) { 0 } else { PADDING };
        let list = ValueList { _words: words, start: block.wrapping_add(first).cast(), len };
        // SAFETY: this is the start of a list with `len` values.
        unsafe { limit(list.start, len) };
        Ok(list)
    }

    /// Creates a list of copies of values.
    pub(crate) fn of(values: &[Any]) -> Result<ValueList, AllocError> {
        let list = ValueList::try_new(values.len())?;
        for (index, value) in values.iter().enumerate() {
            // SAFETY: the list has as many values, which are None.
            unsafe { list.start.add(index).write(value.clone()) };
        }
        Ok(list)
    }

    /// Returns the number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the address of the first value. It is that of the list in native code.
    #[inline(always)]
    pub(crate) fn start(&self) -> *mut Any {
        self.start
    }
}

impl Drop for ValueList {
    fn drop(&mut self) {
        // SAFETY: the list owns `len` values, and is gone afterwards.
        unsafe {
            core::ptr::drop_in_place(core::ptr::slice_from_raw_parts_mut(self.start, self.len))
        };
    }
}

/// Sets the number of values that native code may access.
///
/// # Safety
/// The pointer must be the start of a list with as many values, fewer than 2^32.
#[inline(always)]
pub(crate) unsafe fn limit(start: *mut Any, len: usize) {
    // SAFETY: the word before the values is part of the header.
    unsafe { start.cast::<[u32; 2]>().sub(1).write([MARK, len as u32]) };
}

/// Sets the machine that runs the native code.
///
/// # Safety
/// The pointer must be the start of a list.
#[inline(always)]
pub(crate) unsafe fn set_machine(start: *mut Any, machine: &Machine) {
    // SAFETY: the word is part of the list's header.
    unsafe { start.cast::<*const Machine>().byte_sub(HEADER * size_of::<u64>()).write(machine) };
}

/// Returns the machine that runs the native code; `None` for a list that is not one of registers.
///
/// # Safety
/// The pointer must be the start of a list, which the machine passed to native code that still
/// runs.
pub(super) unsafe fn machine<'a>(list: *mut c_void) -> Option<&'a Machine> {
    // SAFETY: the word is part of the list's header: 0, or the address of the machine.
    unsafe { list.cast::<*const Machine>().byte_sub(HEADER * size_of::<u64>()).read().as_ref() }
}

/// Returns the number of values of a list; `None` for an array of another runtime, whose length is
/// not known.
///
/// # Safety
/// The list must be one that a machine passed to native code.
#[inline(always)]
pub(super) unsafe fn length(list: *mut c_void) -> Option<u32> {
    if list.addr() & 8 == 0 {
        return None;
    }
    // SAFETY: a list at such an address is one of this file, or of a heap with headers of 8 bytes.
    let [mark, len] = unsafe { list.cast::<[u32; 2]>().sub(1).read() };
    (mark == MARK).then_some(len)
}

/// Notes that native code accessed a value that a list does not have.
///
/// # Safety
/// The pointer must be the start of a list.
#[cold]
pub(super) unsafe fn note_failure(list: *mut c_void) {
    // SAFETY: the word is part of the list's header.
    unsafe { list.cast::<u64>().sub(2).write(1) };
}

/// Returns `true` if native code accessed values that these lists do not have. They are as new
/// afterwards.
///
/// # Safety
/// The pointers must be the starts of lists.
#[inline(always)]
pub(crate) unsafe fn take_failures(lists: [*mut Any; 3]) -> bool {
    let failures = lists.map(|list| list.cast::<u64>().wrapping_sub(2));
    // SAFETY: the words are part of the lists' headers.
    let has_failed = failures.iter().fold(0, |all, failure| all | unsafe { failure.read() }) != 0;
    if has_failed {
        // SAFETY: as above.
        failures.iter().for_each(|failure| unsafe { failure.write(0) });
    }
    has_failed
}

const _: () = assert!(size_of::<Any>() == 16);

//! The table of functions by name: in the order of registration, searched linearly, never
//! shrinking.

use core::cell::Cell;
use core::ptr::{self, NonNull};

use super::capacity;
use super::refusal::{Refusal, Result};
use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObject};
use ferrite_core::object::refcount;
use ferrite_core::platform::sync::critical;

/// A table entry: a name and its function, to which the table owns a reference.
struct NamedFunction {
    /// A filter for comparisons: the length of the name in 24 bits and its last byte in 8. Few
    /// names share it.
    mark: Cell<u32>,
    name: Cell<*const u8>,
    /// The function, or null if none is registered.
    function: Cell<*mut TVMFFIObject>,
}

/// The table: the entries in use, followed by a sentinel, to which each search writes the name that
/// it looks for.
struct FunctionNames {
    used_bytes: Cell<usize>,
    entries: [NamedFunction; capacity::NAMES + 1],
}

// SAFETY: only accessed in critical sections.
unsafe impl Sync for FunctionNames {}

static NAMES: FunctionNames = FunctionNames {
    used_bytes: Cell::new(0),
    entries: [const {
        NamedFunction {
            mark: Cell::new(0),
            name: Cell::new(ptr::null()),
            function: Cell::new(ptr::null_mut()),
        }
    }; capacity::NAMES + 1],
};

/// Maximum length of a name in bytes: the length must fit 24 bits of the mark.
pub const MAX_BYTES: usize = (1 << 24) - 1;

/// Returns `true` if two names of equal length are equal. Compares words first, then the remaining
/// bytes.
///
/// # Safety
/// Both names must be readable for `len` bytes.
#[inline(always)]
unsafe fn is_same(known: *const u8, name: *const u8, len: usize) -> bool {
    let mut left = len;
    // SAFETY: the caller's promise.
    unsafe {
        while left != 0 {
            let same = if left >= 4 {
                left -= 4;
                known.add(left).cast::<u32>().read_unaligned()
                    == name.add(left).cast::<u32>().read_unaligned()
            } else {
                left -= 1;
                *known.add(left) == *name.add(left)
            };
            if !same {
                return false;
            }
        }
    }
    true
}

/// Finds the entry of a name. For an unknown name, returns the sentinel, which has the name but no
/// function.
///
/// # Safety
/// Must be called in a critical section. The name must be readable, and not be longer than
/// [`MAX_BYTES`].
#[inline(never)]
unsafe fn find(name: &TVMFFIByteArray) -> &'static NamedFunction {
    let (name, len) = (name.data.cast::<u8>(), name.size);
    // SAFETY: the caller's promise; registered names stay valid. The search ends at the sentinel.
    unsafe {
        let mut mark = (len << 8) as u32;
        if len != 0 {
            mark |= u32::from(*name.add(len - 1));
        }
        let first = (&raw const NAMES.entries).cast::<NamedFunction>();
        let free = first.byte_add(NAMES.used_bytes.get());
        (*free).mark.set(mark);
        (*free).name.set(name);
        let mut entry = first.wrapping_sub(1);
        loop {
            entry = entry.wrapping_add(1);
            if (*entry).mark.get() == mark && is_same((*entry).name.get(), name, len) {
                return &*entry;
            }
        }
    }
}

/// Registers a function under a name and retains it. Returns the previous function of the name, or
/// null; the caller then owns its reference.
///
/// # Errors
/// RuntimeError if the name is taken and `replace` is false; MemoryError if the table is full.
///
/// # Safety
/// `function` must be a live function object. The name must have at most [`MAX_BYTES`] and stay
/// valid.
///
/// # Upstream
/// `TVMFFIFunctionSetGlobal`, which copies the name.
#[inline(always)]
pub unsafe fn set(
    name: &TVMFFIByteArray,
    function: NonNull<TVMFFIObject>,
    replace: bool,
) -> Result<*mut TVMFFIObject> {
    critical(|| {
        // SAFETY: the caller's promise.
        let entry = unsafe { find(name) };
        if entry.function.get().is_null() {
            let used_bytes = NAMES.used_bytes.get();
            if used_bytes == capacity::NAMES * size_of::<NamedFunction>() {
                return Err(Refusal::NAMES);
            }
            NAMES.used_bytes.set(used_bytes + size_of::<NamedFunction>());
        } else if !replace {
            return Err(Refusal::TAKEN);
        }
        // SAFETY: the function is alive.
        unsafe { refcount::retain_masked(function.as_ptr()) };
        Ok(entry.function.replace(function.as_ptr()))
    })
}

/// Looks up a function and returns a new reference to it, or null if the name is unknown.
///
/// # Safety
/// The name must have at most [`MAX_BYTES`].
///
/// # Upstream
/// `TVMFFIFunctionGetGlobal`.
#[inline(always)]
pub unsafe fn get(name: &TVMFFIByteArray) -> *mut TVMFFIObject {
    // One critical section, so that the function is not replaced before it is retained.
    critical(|| {
        // SAFETY: the caller's promise; the table owns a reference.
        unsafe {
            let function = find(name).function.get();
            if !function.is_null() {
                refcount::retain_masked(function);
            }
            function
        }
    })
}

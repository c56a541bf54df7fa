//! Memory layout of the table fields in a Map or Dict object.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::sync::atomic::{AtomicUsize, Ordering, size_word};

/// The fields after the header of a Map or Dict. In the small layout they end with `data_deleter`,
/// and the entries may follow immediately.
///
/// ```text
///            64 bit   32 bit
/// data         24       24     entries or blocks
/// size         32       32     number of entries
/// slots        40       40     capacity; the top bit marks the small layout
/// deleter      48       48     releases `data`, null when the entries lie in the object
/// fib_shift    56       52     dense only: a hash times a constant, shifted by this, is a slot number
/// iter_head    64       56     dense only: slot of the first entry in order
/// iter_tail    72       64     dense only: slot of the last entry in order
/// ```
///
/// # Upstream
/// `MapBaseObj`, `SmallMapBaseObj` and `DenseMapBaseObj` in `include/tvm/ffi/container/map_base.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct TableFields {
    pub(crate) data: *mut c_void,
    pub(crate) size: u64,
    pub(crate) slots: u64,
    pub(crate) data_deleter: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) fib_shift: u32,
    pub(crate) iter_head: u64,
    pub(crate) iter_tail: u64,
}

impl TableFields {
    /// Returns the word of the number of entries, which other threads may read while the table
    /// changes.
    ///
    /// # Safety
    /// `fields` must belong to a table that lives for `'a`.
    #[inline]
    unsafe fn len_word<'a>(fields: *mut Self) -> &'a AtomicUsize {
        // SAFETY: the caller guarantees the fields; the field is written by this function only
        // while threads share the table.
        unsafe { size_word((&raw mut (*fields).size).cast()) }
    }

    /// Returns the number of entries of a table in either layout. Needs no borrow.
    ///
    /// # Safety
    /// `fields` must belong to a live table.
    #[inline]
    pub(crate) unsafe fn len_now(fields: *mut Self) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::len_word(fields) }.load(Ordering::Relaxed)
    }

    /// Sets the number of entries.
    ///
    /// # Safety
    /// `fields` must belong to a live table, which nothing else changes.
    #[inline]
    pub(crate) unsafe fn set_len(fields: *mut Self, len: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::len_word(fields) }.store(len, Ordering::Relaxed);
    }

    /// Replaces all fields but the number of entries, which must be the same.
    ///
    /// # Safety
    /// `fields` must belong to a live table, which nothing else uses, with room for all fields.
    pub(crate) unsafe fn switch(fields: *mut Self, new: Self) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            debug_assert!((*fields).size == new.size);
            (*fields).data = new.data;
            (*fields).slots = new.slots;
            (*fields).data_deleter = new.data_deleter;
            (*fields).fib_shift = new.fib_shift;
            (*fields).iter_head = new.iter_head;
            (*fields).iter_tail = new.iter_tail;
        }
    }
}

/// Bit of `slots` that marks the small layout.
pub(crate) const SMALL_TAG: u64 = 1 << 63;
/// Slot number that means no slot, in links and at the end of an iteration.
pub(crate) const NO_SLOT: usize = usize::MAX;

/// Offset of the fields in a Map or Dict object, after the header.
pub(crate) const FIELDS_OFFSET: usize = size_of::<TVMFFIObject>();

const _: () = {
    assert!(FIELDS_OFFSET + offset_of!(TableFields, data) == 24);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, size) == 32);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, slots) == 40);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, data_deleter) == 48);
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(FIELDS_OFFSET + offset_of!(TableFields, fib_shift) == 56);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_head) == 64);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_tail) == 72);
    assert!(FIELDS_OFFSET + size_of::<TableFields>() == 80);
};

#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(FIELDS_OFFSET + offset_of!(TableFields, fib_shift) == 52);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_head) == 56);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_tail) == 64);
    assert!(FIELDS_OFFSET + size_of::<TableFields>() == 72);
};

/// Marker for a borrowed table object.
pub(crate) type Borrow<'a> = PhantomData<&'a ObjectRef>;

/// Snapshot of the fields that reveal whether a user callback changed a table.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct TableMark {
    data: *mut c_void,
    size: u64,
    slots: u64,
}

impl TableMark {
    /// Takes a snapshot of the fields.
    ///
    /// # Safety
    /// `fields` must belong to a live table.
    #[inline]
    pub(crate) unsafe fn of(fields: *const TableFields) -> Self {
        // SAFETY: both layouts have these fields.
        unsafe { Self { data: (*fields).data, size: (*fields).size, slots: (*fields).slots } }
    }
}

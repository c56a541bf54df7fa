//! The error object itself: its record, the text in place behind it, and its backtrace block.

use core::alloc::Layout;
use core::ffi::c_char;
use core::ptr::{self, NonNull};

use crate::abi::{
    TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle, kTVMFFIBacktraceUpdateModeAppend,
    kTVMFFIBacktraceUpdateModeReplace,
};
use crate::error::Error;
use crate::error::site::{NOT_PENDING, Pending};
use crate::object::{ObjectClass, ObjectRef};
use crate::object_alloc::{self, ObjectRecord};
use crate::{memory, release};

/// An error object: the cell that C reads, then what the library needs; kind and message follow in place.
#[repr(C)]
pub(super) struct ErrorRecord {
    header: TVMFFIObject,
    pub(super) cell: TVMFFIErrorCell,
    pub(super) backtrace_capacity: usize,
    /// Where the error was made, until its backtrace is written.
    pub(super) pending: Pending,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ErrorRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record: *mut ErrorRecord = this.cast();
        // SAFETY: the record is initialised and ours alone; it owns its backtrace block and both references.
        unsafe {
            release_backtrace(record);
            for owned in [(*record).cell.cause_chain, (*record).cell.extra_context] {
                if !owned.is_null() {
                    release::release_object(owned.cast());
                }
            }
        }
    }
}

/// An error whose message is still to be written; zero bytes until then.
pub(super) struct Draft(Error);

impl Draft {
    /// An error of this kind with room for a message, or None when there is no memory for it.
    pub(super) fn new(kind: &[u8], message_len: usize) -> Option<Draft> {
        // No text is so long that two bytes more would overflow.
        let text_bytes = (kind.len() + 2).checked_add(message_len)?;
        // Not through `?` on a Result: building that error would come back here.
        let record = object_alloc::allocate_error::<ErrorRecord>(text_bytes)?.as_ptr();
        // SAFETY: the allocation has room for the record and for both texts with their NULs after it, and is ours alone.
        unsafe {
            let kind_at = record.add(1).cast::<u8>();
            ptr::write_bytes(kind_at, 0, text_bytes);
            ptr::copy_nonoverlapping(kind.as_ptr(), kind_at, kind.len());
            (&raw mut (*record).backtrace_capacity).write(0);
            (&raw mut (*record).pending).write(NOT_PENDING);
            (&raw mut (*record).cell).write(TVMFFIErrorCell {
                kind: TVMFFIByteArray { data: kind_at.cast(), size: kind.len() },
                message: TVMFFIByteArray { data: kind_at.add(kind.len() + 1).cast(), size: message_len },
                backtrace: TVMFFIByteArray { data: c"".as_ptr(), size: 0 },
                update_backtrace: Some(UPDATE_BACKTRACE),
                cause_chain: ptr::null_mut(),
                extra_context: ptr::null_mut(),
            });
            let object = ObjectRef::from_raw(NonNull::new_unchecked(record.cast()));
            Some(Draft(Error::from_object_unchecked(object)))
        }
    }

    /// The message.
    pub(super) fn message(&mut self) -> &mut [u8] {
        // SAFETY: the record is ours alone, and holds that many bytes there.
        unsafe {
            let message = (*record_of(&self.0)).cell.message;
            core::slice::from_raw_parts_mut(message.data.cast_mut().cast(), message.size)
        }
    }

    /// The error. Never None here.
    pub(super) fn finish(self) -> Option<Error> {
        Some(self.0)
    }
}

/// The record of an error of this library.
pub(super) fn record_of(error: &Error) -> *mut ErrorRecord {
    error.as_object().as_ptr().cast()
}

/// The one address of [`update_backtrace`] by which this library's records are known.
pub(super) static UPDATE_BACKTRACE: unsafe extern "C" fn(TVMFFIObjectHandle, *const TVMFFIByteArray, i32) =
    update_backtrace;

/// The `update_backtrace` of errors made here.
unsafe extern "C" fn update_backtrace(this: TVMFFIObjectHandle, text: *const TVMFFIByteArray, mode: i32) {
    let record: *mut ErrorRecord = this.cast();
    // SAFETY: C calls this with an error that it got from this library and a byte array (ABI); both may be null.
    let (Some(record), Some(text)) = (unsafe { (record.as_mut(), text.as_ref()) }) else {
        return;
    };
    // There is nobody to report to: what makes no sense changes nothing.
    let modes = kTVMFFIBacktraceUpdateModeReplace..=kTVMFFIBacktraceUpdateModeAppend;
    if text.size.cast_signed() < 0 || !modes.contains(&mode) {
        return;
    }
    // SAFETY: the text is valid for the call (ABI), and its size was just checked.
    let text = unsafe { text.as_slice() };
    let old = record.cell.backtrace;
    let kept = if mode == kTVMFFIBacktraceUpdateModeAppend { old.size } else { 0 };
    // Neither text is longer than half the address space, less one byte.
    let len = kept + text.len();
    let Ok(layout) = Layout::array::<u8>(len + 1) else { return };
    let Some(block) = memory::allocate(layout) else { return };
    let start = block.as_ptr();
    // SAFETY: the block has room for both texts and the NUL; the old block is not used any more once it is copied.
    unsafe {
        ptr::copy_nonoverlapping(old.data.cast(), start, kept);
        ptr::copy_nonoverlapping(text.as_ptr(), start.add(kept), text.len());
        start.add(len).write(0);
        release_backtrace(record);
    }
    record.pending = NOT_PENDING;
    record.backtrace_capacity = len + 1;
    record.cell.backtrace = TVMFFIByteArray { data: start.cast::<c_char>(), size: len };
}

/// Frees the block of the backtrace, if there is one.
///
/// # Safety
/// The record must be ours alone; its backtrace must not be read afterwards.
pub(super) unsafe fn release_backtrace(record: *mut ErrorRecord) {
    // SAFETY: a capacity above zero says that the text is a block of that size.
    unsafe {
        if (*record).backtrace_capacity > 0 {
            let block = NonNull::new_unchecked((*record).cell.backtrace.data.cast_mut().cast::<u8>());
            memory::release(block, Layout::from_size_align_unchecked((*record).backtrace_capacity, 1));
        }
    }
}

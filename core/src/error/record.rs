//! The error object itself: its record, and the text in place behind it.

use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle};
use crate::error::Error;
use crate::error::block::{self, BlockBytes};
use crate::error::site::{NOT_PENDING, Pending};
use crate::object::{ObjectClass, ObjectRef};
use crate::object_alloc::{self, ObjectRecord};
use crate::release;

/// An error object: the cell that C reads, then what the library needs; kind and message follow in place.
#[repr(C)]
pub(super) struct ErrorRecord {
    header: TVMFFIObject,
    pub(super) cell: TVMFFIErrorCell,
    /// Bytes of the block of the backtrace, or none.
    pub(super) backtrace_bytes: BlockBytes,
    /// Where the error was made, until its backtrace is written.
    pub(super) pending: Pending,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ErrorRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record: *mut ErrorRecord = this.cast();
        // SAFETY: the record is initialised and ours alone; it owns its backtrace block and both references.
        unsafe {
            block::release(record);
            let release = |owned: TVMFFIObjectHandle| {
                if !owned.is_null() {
                    release::release_object(owned.cast());
                }
            };
            release((*record).cell.cause_chain);
            release((*record).cell.extra_context);
        }
    }
}

/// Whether a record has room for a backtrace.
pub(super) const KEEPS_BACKTRACES: bool = size_of::<BlockBytes>() > 0;

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
            (&raw mut (*record).backtrace_bytes).write(block::NONE);
            (&raw mut (*record).pending).write(NOT_PENDING);
            (&raw mut (*record).cell).write(TVMFFIErrorCell {
                kind: TVMFFIByteArray { data: kind_at.cast(), size: kind.len() },
                message: TVMFFIByteArray { data: kind_at.add(kind.len() + 1).cast(), size: message_len },
                backtrace: TVMFFIByteArray { data: c"".as_ptr(), size: 0 },
                update_backtrace: Some(block::UPDATE),
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

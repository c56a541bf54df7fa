//! The error object: a record, followed by the kind and the message.

use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle};
use crate::error::Error;
use crate::error::block::{self, BlockBytes};
use crate::error::site::{NOT_PENDING, Pending};
use crate::object::object_alloc::{self, ObjectRecord};
use crate::object::{ObjectClass, ObjectRef, release};

/// The record of an error object: the cell that C reads, then private fields. The kind and the
/// message follow the record in the same block.
#[repr(C)]
pub(super) struct ErrorRecord {
    header: TVMFFIObject,
    pub(super) cell: TVMFFIErrorCell,
    /// Size of the backtrace block, or [`NONE`](super::block::NONE).
    pub(super) backtrace_bytes: BlockBytes,
    /// The site of the error, until its backtrace is captured.
    pub(super) pending: Pending,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ErrorRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record: *mut ErrorRecord = this.cast();
        // SAFETY: the record is initialised and not shared; it owns its backtrace block and both
        // references.
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

/// Whether errors store a backtrace.
pub(super) const KEEPS_BACKTRACES: bool = size_of::<BlockBytes>() > 0;

/// An error under construction. The bytes of its message are zero until it is written.
pub(super) struct Draft(Error);

impl Draft {
    /// Allocates an error with space for a message of `message_len` bytes. Returns `None` when out
    /// of memory.
    pub(super) fn new(kind: &[u8], message_len: usize) -> Option<Draft> {
        // No text is long enough for this sum to overflow.
        let text_bytes = (kind.len() + 2).checked_add(message_len)?;
        // Not a Result: constructing its error would recurse into this function.
        let record = object_alloc::allocate_error::<ErrorRecord>(text_bytes)?.as_ptr();
        // SAFETY: the allocation has space for the record and for both strings with their NULs
        // after it, and is not shared.
        unsafe {
            let kind_at = record.add(1).cast::<u8>();
            ptr::write_bytes(kind_at, 0, text_bytes);
            ptr::copy_nonoverlapping(kind.as_ptr(), kind_at, kind.len());
            (&raw mut (*record).backtrace_bytes).write(block::NONE);
            (&raw mut (*record).pending).write(NOT_PENDING);
            (&raw mut (*record).cell).write(TVMFFIErrorCell {
                kind: TVMFFIByteArray { data: kind_at.cast(), size: kind.len() },
                message: TVMFFIByteArray {
                    data: kind_at.add(kind.len() + 1).cast(),
                    size: message_len,
                },
                backtrace: TVMFFIByteArray { data: c"".as_ptr(), size: 0 },
                update_backtrace: Some(block::UPDATE),
                cause_chain: ptr::null_mut(),
                extra_context: ptr::null_mut(),
            });
            let object = ObjectRef::from_raw(NonNull::new_unchecked(record.cast()));
            Some(Draft(Error::from_object_unchecked(object)))
        }
    }

    /// Borrows the message buffer for writing.
    pub(super) fn message(&mut self) -> &mut [u8] {
        // SAFETY: the record is not shared, and has that many bytes there.
        unsafe {
            let message = (*record_of(&self.0)).cell.message;
            core::slice::from_raw_parts_mut(message.data.cast_mut().cast(), message.size)
        }
    }

    /// Returns the finished error. Never `None` in this build.
    pub(super) fn finish(self) -> Option<Error> {
        Some(self.0)
    }
}

/// Returns the record of an error created by this library.
pub(super) fn record_of(error: &Error) -> *mut ErrorRecord {
    error.as_object().as_ptr().cast()
}

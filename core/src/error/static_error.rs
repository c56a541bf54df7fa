//! The static MemoryError, returned when memory is exhausted even for an error object.

use core::ptr::{self, NonNull};

use crate::abi::{
    TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectDeleterSlot, TVMFFIObjectHandle,
    type_index,
};
use crate::error::{Error, kind};
use crate::object::{ObjectClass, ObjectRef};

/// A static object with the fields of an error that C reads.
#[repr(C)]
struct StaticError {
    header: TVMFFIObject,
    cell: TVMFFIErrorCell,
}

/// The static MemoryError, aligned as objects are: 32-bit x86 aligns a `u64` to 4 bytes only.
#[repr(align(8))]
struct OutOfMemory(core::cell::UnsafeCell<StaticError>);

// SAFETY: only the counts of the object are written, atomically; its other fields are constant, and
// its `update_backtrace` does nothing.
unsafe impl Sync for OutOfMemory {}

const fn static_text(text: &'static core::ffi::CStr) -> TVMFFIByteArray {
    TVMFFIByteArray { data: text.as_ptr(), size: text.to_bytes().len() }
}

static OUT_OF_MEMORY: OutOfMemory = OutOfMemory(core::cell::UnsafeCell::new(StaticError {
    header: TVMFFIObject {
        // A strong count that is never released to zero.
        combined_ref_count: 0x1_4000_0000,
        type_index: type_index::ERROR,
        padding: 0,
        deleter: TVMFFIObjectDeleterSlot { ensure_align: 0 },
    },
    cell: TVMFFIErrorCell {
        kind: TVMFFIByteArray {
            data: kind::ALL.split_at(kind::place(kind::MEMORY_ERROR) as usize).1.as_ptr().cast(),
            size: kind::MEMORY_ERROR.len(),
        },
        message: static_text(c"Out of memory"),
        backtrace: static_text(c""),
        update_backtrace: Some(ignore_backtrace),
        cause_chain: ptr::null_mut(),
        extra_context: ptr::null_mut(),
    },
}));

/// Returns the static MemoryError.
#[cold]
pub(super) fn out_of_memory() -> Error {
    let object = OUT_OF_MEMORY.0.get().cast::<TVMFFIObject>();
    // SAFETY: the static is an initialised, immortal error object.
    unsafe { Error::from_object_unchecked(ObjectRef::borrow_raw(NonNull::new_unchecked(object))) }
}

/// Returns `true` if an error is the static MemoryError.
pub(super) fn is(error: &Error) -> bool {
    core::ptr::addr_eq(error.as_object().as_ptr(), OUT_OF_MEMORY.0.get())
}

/// The `update_backtrace` callback of the static MemoryError, which has no effect.
pub(super) unsafe extern "C" fn ignore_backtrace(
    _: TVMFFIObjectHandle,
    _: *const TVMFFIByteArray,
    _: i32,
) {
}

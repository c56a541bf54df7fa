//! Errors of a kernel library: made by the loaded `libtvm_ffi`, whose code outlives this binary's.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, client};
use crate::error::{Backtrace, Error, Site};
use crate::memory;
use crate::object::{ObjectClass, ObjectRef};

/// An error with these parts, or None when there is no memory for it.
pub(super) fn build(
    kind: &[u8],
    message_len: usize,
    backtrace: Backtrace<'_>,
    fill: impl FnOnce(&mut [u8]),
) -> Option<Error> {
    let layout = Layout::array::<u8>(message_len).ok()?;
    let block = memory::allocate(layout)?;
    // SAFETY: the block is ours and as long as the message; it is zeroed before a slice of it exists.
    let message = unsafe {
        ptr::write_bytes(block.as_ptr(), 0, message_len);
        core::slice::from_raw_parts_mut(block.as_ptr(), message_len)
    };
    fill(message);
    let backtrace = if let Backtrace::Text(text) = backtrace { text } else { b"" };
    let array = |text: &[u8]| TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() };
    let mut handle = ptr::null_mut();
    // SAFETY: the arrays are valid for the call, which copies them; the reference that comes back is ours.
    unsafe {
        client::TVMFFIErrorCreate(&array(kind), &array(message), &array(backtrace), &mut handle);
        memory::release(block, layout);
        let object = NonNull::new(handle.cast())?;
        Some(Error::from_object_unchecked(ObjectRef::from_raw(object)))
    }
}

/// None: the loaded library wrote the backtrace.
pub(super) fn pending(_: &Error) -> Option<Site> {
    None
}

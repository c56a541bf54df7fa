//! Errors of a kernel library: made by the loaded `libtvm_ffi`, whose code outlives this binary's.

use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, client};
use crate::error::Error;
use crate::memory::Buffer;
use crate::object::{ObjectClass, ObjectRef};

/// Errors of the loaded library have backtraces.
pub(super) const KEEPS_BACKTRACES: bool = true;

/// An error whose message is still to be written, in a block of its own until then.
pub(super) struct Draft<'a> {
    kind: &'a [u8],
    message: Buffer<u8>,
}

impl Draft<'_> {
    /// An error of this kind with room for a message, or None when there is no memory for it.
    pub(super) fn new(kind: &[u8], message_len: usize) -> Option<Draft<'_>> {
        let mut message = Buffer::new();
        message.try_resize(message_len, 0).ok()?;
        Some(Draft { kind, message })
    }

    /// The message.
    pub(super) fn message(&mut self) -> &mut [u8] {
        &mut self.message
    }

    /// The error, or None when there is no memory for it.
    pub(super) fn finish(self) -> Option<Error> {
        let array = TVMFFIByteArray::from_slice;
        let mut handle = ptr::null_mut();
        // SAFETY: the arrays are valid for the call, which copies them; the reference that comes back is ours.
        unsafe {
            client::TVMFFIErrorCreate(&array(self.kind), &array(&self.message), &array(b""), &mut handle);
            let object = NonNull::new(handle.cast())?;
            Some(Error::from_object_unchecked(ObjectRef::from_raw(object)))
        }
    }
}

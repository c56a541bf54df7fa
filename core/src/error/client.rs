//! Errors of a kernel library: created by the loaded `libtvm_ffi`, so that they remain valid after
//! the kernel library is unloaded.

use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, client};
use crate::error::Error;
use crate::object::{ObjectClass, ObjectRef};
use crate::platform::memory::Buffer;

/// Whether errors store a backtrace: those of the loaded library do.
pub(super) const KEEPS_BACKTRACES: bool = true;

/// An error under construction: its kind, and a buffer for its message.
pub(super) struct Draft<'a> {
    kind: &'a [u8],
    message: Buffer<u8>,
}

impl Draft<'_> {
    /// Allocates an error with space for a message of `message_len` bytes. Returns `None` when out
    /// of memory.
    pub(super) fn new(kind: &[u8], message_len: usize) -> Option<Draft<'_>> {
        let mut message = Buffer::new();
        message.try_resize(message_len, 0).ok()?;
        Some(Draft { kind, message })
    }

    /// Borrows the message buffer for writing.
    pub(super) fn message(&mut self) -> &mut [u8] {
        &mut self.message
    }

    /// Creates the error. Returns `None` when out of memory.
    pub(super) fn finish(self) -> Option<Error> {
        let array = TVMFFIByteArray::from_slice;
        let mut handle = ptr::null_mut();
        // SAFETY: the arrays are valid for the call, which copies them; the returned reference is
        // owned here.
        unsafe {
            client::TVMFFIErrorCreate(
                &array(self.kind),
                &array(&self.message),
                &array(b""),
                &mut handle,
            );
            let object = NonNull::new(handle.cast())?;
            Some(Error::from_object_unchecked(ObjectRef::from_raw(object)))
        }
    }
}

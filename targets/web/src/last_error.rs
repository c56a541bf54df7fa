//! The raised error as a C string, from which JavaScript makes an `Error`.

use core::ffi::c_char;

use ferrite_core::error::{Error, raised_error};
use ferrite_core::platform::memory::{AllocError, Buffer};
use ferrite_core::platform::sync::Mutex;

/// The string of the last error, until the next one.
static TEXT: Mutex<Buffer<u8>> = Mutex::new(Buffer::new());

/// Takes the raised error. Returns `KIND: MESSAGE`, which stays valid until the next call; an empty
/// string if no error is raised.
pub fn take() -> *const c_char {
    let Some(error) = raised_error::take() else { return c"".as_ptr() };
    match describe(&error) {
        Ok(text) => {
            let mut last = TEXT.lock();
            *last = text;
            last.as_ptr().cast()
        }
        Err(_) => c"MemoryError: Out of memory for the message of an error".as_ptr(),
    }
}

fn describe(error: &Error) -> Result<Buffer<u8>, AllocError> {
    let parts = [error.kind_bytes(), b": ", error.message_bytes(), b"\0"];
    let mut text = Buffer::try_with_capacity(parts.iter().map(|part| part.len()).sum())?;
    for part in parts {
        text.try_extend_from_slice(part)?;
    }
    Ok(text)
}

//! Errors, raised in the program through its C symbol.

use core::ffi::{CStr, c_char};
use core::fmt::{self, Write};

/// Proof that an error has been raised on the calling thread.
#[derive(Debug)]
pub struct Raised(());

/// Result of a function that raises its errors.
pub type Result<T> = core::result::Result<T, Raised>;

/// Longest message, with the terminating zero.
const CAPACITY: usize = 256;

unsafe extern "C" {
    fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char);
}

/// Raises an error of a kind: `raise!(Value, "...")` is a ValueError.
macro_rules! raise {
    (Type, $($message:tt)*) => { $crate::arguments::Raised::new(c"TypeError", format_args!($($message)*)) };
    (Value, $($message:tt)*) => { $crate::arguments::Raised::new(c"ValueError", format_args!($($message)*)) };
    (Memory, $($message:tt)*) => { $crate::arguments::Raised::new(c"MemoryError", format_args!($($message)*)) };
}
pub(crate) use raise;

impl Raised {
    /// Raises an error. The message is cut to the capacity.
    #[cold]
    pub fn new(kind: &CStr, message: fmt::Arguments<'_>) -> Self {
        let mut text = Message { bytes: [0; CAPACITY], len: 0 };
        // A message that does not fit ends early.
        let _ = text.write_fmt(message);
        // SAFETY: both strings end with a zero: the last byte of the buffer is never written.
        unsafe { TVMFFIErrorSetRaisedFromCStr(kind.as_ptr(), text.bytes.as_ptr().cast()) };
        Self(())
    }

    /// Adopts the error that a C function of the program raised.
    pub fn by_program() -> Self {
        Self(())
    }
}

struct Message {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Write for Message {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let space = &mut self.bytes[self.len..CAPACITY - 1];
        let count = part.len().min(space.len());
        space[..count].copy_from_slice(&part.as_bytes()[..count]);
        self.len += count;
        if count == part.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

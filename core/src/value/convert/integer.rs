//! Ranges of integers.
#![forbid(unsafe_code)]

use crate::error::Error;

/// Returns `true` for the name of the type of bytes.
pub(super) const fn is_byte(name: &str) -> bool {
    matches!(name.as_bytes(), b"u8")
}

/// Creates the OverflowError for an integer that a type cannot hold.
#[cold]
#[inline(never)]
pub(super) fn out_of_range(number: i64, name: &'static str) -> Error {
    Error::from_parts(crate::__error_site!(), "OverflowError", &|out| {
        out.put(b"Integer ");
        out.put_number(number);
        out.put(b" is out of range for `");
        out.put(name.as_bytes());
        out.put(b"`");
    })
}

//! Raised errors: the kind, and the message without the addresses in it.
//!
//! Upstream copies invalid UTF-8 into messages, which Python then cannot decode. This library
//! replaces it by U+FFFD, and so does the comparison.

use super::{Library, Value};
use ferrite_core::abi::*;
use std::fmt;

/// An error of either library.
#[derive(Debug, PartialEq)]
pub struct Raised {
    pub kind: String,
    pub message: String,
}

impl Raised {
    /// Takes the error that this thread's last call raised.
    pub(super) fn take(library: &'static Library) -> Self {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the handle lives through the call.
        unsafe { (library.symbols.error_take)(&raw mut handle) };
        assert!(!handle.is_null(), "{} library failed without an error", library.name);
        Self::read(&Value::from_handle(library, handle))
    }

    /// Reads an error object.
    pub(super) fn read(error: &Value) -> Self {
        // SAFETY: an error object has this record after its header.
        let cell = unsafe { *error.body::<TVMFFIErrorCell>() };
        // SAFETY: its strings live as long as it.
        let text = |bytes: TVMFFIByteArray| String::from_utf8_lossy(unsafe { bytes.as_slice() });
        Self { kind: text(cell.kind).into_owned(), message: without_addresses(&text(cell.message)) }
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// Replaces addresses, which differ between runs: `0x7f...` becomes `0x*`.
pub fn without_addresses(text: &str) -> String {
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some(at) = rest.find("0x7").or_else(|| rest.find("0x5")) {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(&rest[..at]);
        out.push_str(if digits >= 9 { "0x*" } else { &rest[at..at + 2 + digits] });
        rest = &rest[at + 2 + digits..];
    }
    out.push_str(rest);
    out
}

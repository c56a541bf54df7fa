//! Byte strings that reports print as text.

use std::fmt;

/// Arbitrary bytes, usually a valid string.
#[derive(Clone, PartialEq)]
pub struct Text(pub Vec<u8>);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

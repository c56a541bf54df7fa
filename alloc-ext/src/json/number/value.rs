//! The value of a parsed number.
#![forbid(unsafe_code)]

/// A parsed JSON number: an int or a float.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

//! Custom dtypes in builds without the feature `custom-dtypes`: none exist.
#![forbid(unsafe_code)]

use super::source::Source;
use crate::error::Result;
use crate::value::any::Any;

/// Returns `false`: custom types do not exist.
pub(super) fn is(_: u8) -> bool {
    false
}

/// Returns `None`: custom types do not exist.
pub(super) fn name(_: u8) -> Result<Option<Any>> {
    Ok(None)
}

/// Returns the error for a string that is not a dtype.
pub(super) fn read(source: &mut Source<'_>) -> Result<u8> {
    Err(source.unknown())
}

//! Boards without the feature `custom-dtypes`: no types are custom.
#![forbid(unsafe_code)]

use super::text::Source;
use crate::any::Any;
use crate::error::Result;

/// Never.
pub(super) fn is(_: u8) -> bool {
    false
}

/// None.
pub(super) fn name(_: u8) -> Result<Option<Any>> {
    Ok(None)
}

/// Refuses the text.
pub(super) fn read(source: &mut Source<'_>) -> Result<u8> {
    Err(source.unknown())
}

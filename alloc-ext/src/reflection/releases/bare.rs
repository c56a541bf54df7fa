//! The last release alone, in builds without `std`.

use ferrite_core::error::Result;

use super::class::Class;
use super::field::Field;

/// The fields of a class.
pub(super) fn fields_of(class: &'static Class) -> &'static [Field] {
    class.fields
}

/// Adds nothing: the last release has all in the descriptions of classes.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "that of hosts may fail")]
pub(super) fn install() -> Result<()> {
    Ok(())
}

/// Registers nothing: the last release has shallow copies as attributes alone.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "that of hosts may fail")]
pub(super) fn register_copy_method(_: &Class) -> Result<()> {
    Ok(())
}

//! Builds without `std` imitate the latest release only.

use ferrite_core::error::Result;

use crate::reflection::class::Class;
use crate::reflection::field::Field;

/// Returns the fields of a class.
pub(in crate::reflection) fn fields_of(class: &'static Class) -> &'static [Field] {
    class.fields
}

/// Registers nothing: the latest release needs no extra columns.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "that of hosts may fail")]
pub(in crate::reflection) fn install() -> Result<()> {
    Ok(())
}

/// Registers nothing: in the latest release, shallow copies are attributes only.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "that of hosts may fail")]
pub(in crate::reflection) fn register_copy_method(_: &Class) -> Result<()> {
    Ok(())
}

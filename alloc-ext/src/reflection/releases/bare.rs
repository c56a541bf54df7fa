//! Stubs for builds without `std`, which imitate only the latest upstream release.

use ferrite_core::error::Result;

use crate::reflection::class::Class;
use crate::reflection::field::Field;

/// Returns the fields of a class.
pub(in crate::reflection) fn fields_of(class: &'static Class) -> &'static [Field] {
    class.fields
}

/// Does nothing: the latest release has no additional attribute columns.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "that of hosts may fail")]
pub(in crate::reflection) fn install() -> Result<()> {
    Ok(())
}

/// Does nothing: in the latest release, the shallow copy is an attribute and not a method.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "that of hosts may fail")]
pub(in crate::reflection) fn register_copy_method(_: &'static Class) -> Result<()> {
    Ok(())
}

//! Warnings about fields that shadow a field of an ancestor.

use crate::abi::TVMFFIByteArray;
use crate::plain_warn;

use super::members::has_field;
use super::type_info;

/// Logs a warning if an ancestor of the type has a field of this name.
///
/// # Safety
/// The name must be valid.
pub(super) unsafe fn warn(type_index: i32, name: &TVMFFIByteArray) {
    let Some(entry) = type_info(type_index) else { return };
    for ancestor in entry.ancestors() {
        // SAFETY: ancestors are registered types, whose records are never freed; the caller
        // guarantees the name.
        let (name, ancestor_key) = unsafe {
            if !has_field(*ancestor, name) {
                continue;
            }
            (name.as_slice(), (**ancestor).type_key.as_slice())
        };
        plain_warn!(
            "Field \"{}\" in type \"{}\" duplicates an ancestor field in \"{}\"",
            name,
            entry.type_key(),
            ancestor_key;
            "field `{}` is in `{}` too",
            name,
            ancestor_key
        );
    }
}

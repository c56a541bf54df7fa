//! Size-optimised bulk construction: repeated insertion.

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

/// Inserts a text from a document: the memory of a microcontroller limits how many keys can collide.
pub(super) use crate::containers::table::insert as insert_text;

/// Returns `None`.
///
/// # Errors
/// None: the signature is that of `fast`.
pub(super) fn of_pairs(_: i32, _: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    Ok(None)
}

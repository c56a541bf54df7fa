//! Size-optimised bulk construction: repeated insertion.

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

/// Sets the value of a string key from a document. No limit on collisions is needed, since the memory of a microcontroller
/// limits the number of keys.
pub(super) use crate::containers::table::insert as insert_text;

/// Returns `None`: all entries are inserted one by one.
///
/// # Errors
/// Never fails; the signature is that of `fast.rs`.
pub(super) fn of_pairs(_: i32, _: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    Ok(None)
}

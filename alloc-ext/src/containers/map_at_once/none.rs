//! Maps of many entries are made by inserting one after the other, where size counts.

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;

use super::MapObject;

/// None: there is no other way.
///
/// # Errors
///
/// None: the signature is that of its faster twin.
pub(super) fn map_of(_: &[[AnyView<'_>; 2]]) -> Result<Option<MapObject>> {
    Ok(None)
}

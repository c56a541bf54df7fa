//! Searches by keys that need not be values: a `str` where keys are strings.

use ferrite_core::error::Result;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::convert::KeyOf;

/// Calls `search`, one of the searches of the maps, with a view of the key.
#[inline(always)]
pub(in crate::containers) fn look_up<K, R>(
    key: &(impl KeyOf<K> + ?Sized),
    search: impl FnOnce(AnyView<'_>) -> Result<R>,
) -> Result<R> {
    // SAFETY: searches compare the key with those of the map, and retain none.
    unsafe { key.with_key(search) }
}

//! Hash and equality of values as map keys.
//!
//! Plain values are equal if type and payload are bitwise equal: `1`, `1.0` and `true` are three
//! different keys, and a NaN equals itself. Strings and bytes compare by content, big integers by
//! value. Objects compare by address, unless their type has the hooks `__any_hash__` and
//! `__any_equal__`.

mod equal;
mod hash;
mod hooks;
#[cfg(not(feature = "client"))]
mod install;

use ferrite_core::error::Result;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::convert::KeyOf;

pub use equal::equal;
pub(super) use equal::{equal_by_hook, equal_inline, is_plain, prefetch, prefetch_text};
pub(crate) use equal::{equal_without_hook, same_words};
pub(super) use hash::{has_hash_hook, may_call_hooks};
pub use hash::{hash, hash_bytes};
pub(crate) use hash::{hash_long_text, hash_short_text, hash_words};
#[cfg(not(feature = "client"))]
pub(crate) use install::install;
#[cfg(not(feature = "client"))]
pub use install::install_hooks;

/// Calls `search`, one of the searches of the maps, with a view of a key, which may be a `str`
/// where keys are strings.
#[inline(always)]
pub(super) fn look_up<K, R>(
    key: &(impl KeyOf<K> + ?Sized),
    search: impl FnOnce(AnyView<'_>) -> Result<R>,
) -> Result<R> {
    // SAFETY: searches compare the key with those of the map, and retain none.
    unsafe { key.with_key(search) }
}

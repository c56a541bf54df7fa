//! Stack walk on platforms without unwinding rules of our own: by the system's unwinder.

mod rule;

use super::super::cache::Cache;
use super::frame::Visitor;
use super::unwinder;
pub(in super::super) use rule::Rule;

/// Calls `visit` for each frame of the current thread. Allocates nothing.
pub(in super::super) fn trace(cache: &mut Cache, visit: &mut Visitor<'_>) {
    unwinder::trace(cache, |_, _| true, visit);
}

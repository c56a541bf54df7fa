//! Stack walk on platforms without unwinding rules of our own: by the system's unwinder.

use super::{Cache, Visitor, unwinder};

/// Uninhabited type of unwinding rules: this platform has none.
#[derive(Clone, Copy)]
pub(in super::super) enum Rule {}

/// Calls `visit` for each frame of the current thread. Allocates nothing.
pub(in super::super) fn trace(cache: &mut Cache, visit: &mut Visitor<'_>) {
    unwinder::trace(cache, |_, _| true, visit);
}

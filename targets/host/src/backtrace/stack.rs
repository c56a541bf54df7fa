//! The frames of this thread: by a quick walk where there is one, by the system's unwinder elsewhere.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cfi;
mod unwinder;

use super::cache::Cache;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use cfi::{Rule, trace};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) use no_rules::{Rule, trace};

/// A frame on the stack.
pub(super) struct Frame<'a> {
    /// Where its code goes on when the frame that it called returns.
    pub pc: usize,
    function: &'a dyn Fn() -> usize,
}

impl Frame<'_> {
    /// The address of its function; zero when it is not known.
    pub(super) fn function(&self) -> usize {
        (self.function)()
    }
}

/// Takes frames, innermost first; false ends the walk.
pub(super) type Visitor<'a> = dyn FnMut(&mut Cache, &Frame<'_>) -> bool + 'a;

/// What the addresses of code are good for: see [`super::modules::generation`].
pub(super) fn generation() -> Option<[u64; 2]> {
    #[cfg(target_os = "linux")]
    return super::modules::generation();
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod no_rules {
    use super::{Cache, Visitor, unwinder};

    /// Nothing is known of the frames but what the unwinder knows.
    #[derive(Clone, Copy)]
    pub(in super::super) enum Rule {}

    /// Visits the frames of this thread. Allocates nothing.
    pub(in super::super) fn trace(cache: &mut Cache, visit: &mut Visitor<'_>) {
        unwinder::trace(cache, |_, _| true, visit);
    }
}

//! States of the count word: its initial value, and what remains after a release.
#![forbid(unsafe_code)]

/// Count word of a new object: one strong reference, and the weak reference that all strong ones
/// hold together.
pub const INITIAL: u64 = 0x1_0000_0001;

/// The state of an object after the release of a strong reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Strong references remain.
    Alive,
    /// No reference remains: the caller destroys the content and frees the memory.
    Both,
    /// Only weak references remain: the caller destroys the content and then calls
    /// [`release_weak`](super::release_weak) for the weak reference that the strong ones held.
    StrongOnly,
}

//! Stack bounds of the current thread, from a provider that the host installs. Unknown in other
//! builds.

#[cfg_attr(all(feature = "std", not(feature = "client")), path = "std.rs")]
#[cfg_attr(not(all(feature = "std", not(feature = "client"))), path = "bare.rs")]
mod imp;

#[cfg(all(feature = "std", not(feature = "client")))]
pub(crate) use imp::PROVIDER;
pub(super) use imp::*;
#[cfg(all(feature = "std", not(feature = "client")))]
pub use imp::{StackBoundsProvider, set_provider};

/// Error of a call that is nested too deeply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooDeep {
    /// The stack of the thread is used up.
    #[cfg(all(feature = "std", not(feature = "client")))]
    StackUsedUp,
    /// The maximum number of calls is nested, on a stack with unknown bounds.
    TooManyCalls,
}

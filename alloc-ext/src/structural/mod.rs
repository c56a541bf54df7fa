//! Operations on the structure of values: variables count by where they are bound, not by name.
//!
//! | part | holds |
//! |---|---|
//! | [`equal`] | equality, hash and the first mismatch |
//! | [`visit`] | visits and walks with callbacks, interrupts, and the context of their errors |
//! | [`key`] | a value as a key by its structure |
//! | [`mutate`] | maps and mutations, in place where nobody else holds the value |
//!
//! The other files hold what these share: regions of definitions, callbacks by type, native hooks, the start of visitors
//! and mutators, and the context of errors.

use ferrite_core::error::Result;

pub(crate) mod any_arg;
mod callbacks;
pub mod equal;
mod error_context;
pub mod key;
mod kind;
pub mod mutate;
mod native;
mod region;
pub mod visit;
pub(crate) mod walker;

pub use callbacks::{Callback, CallbackEntries, Callbacks};
pub use kind::StructuralKind;
pub use region::DefRegion;

/// Registers the class of structural keys and the hooks of built-in types, unless they are there. It belongs behind
/// [`reflection::install`](crate::reflection::install), so that the class gets the index that upstream's has, and before the
/// first look at a column by C++.
///
/// # Errors
/// MemoryError; what is registered until then stays.
pub fn install() -> Result<()> {
    key::install()?;
    visit::install()?;
    mutate::install()
}

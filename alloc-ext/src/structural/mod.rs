//! Structural operations on values: equality, hash, visits and mutations by content, with variables
//! identified by where they are defined instead of by name.
//!
//! | part | content |
//! |---|---|
//! | [`Structural`] | all of them as methods of values, with closures that get the nodes |
//! | [`equal`] | equality, hash and the first mismatch |
//! | [`visit`] | visits and walks, interrupts and error contexts |
//! | [`key`] | map keys that compare by structure |
//! | [`mutate`] | structural maps and mutations, in place for unshared values |
//!
//! They share definition regions, callback dispatch by type, native hooks, the common part of
//! visitors and mutators, and error contexts.

use ferrite_core::error::Result;

pub(crate) mod any_arg;
mod callbacks;
mod closures;
pub mod equal;
mod error_context;
pub mod key;
mod kind;
mod kind_lookup;
pub mod mutate;
mod native;
mod operations;
mod region;
pub mod visit;
pub(crate) mod walker;

pub use closures::{Answer, Callbacks, Flow, Mutator, Node, Recursive, Structural, Visitor, Walk};
pub use equal::Options;
pub use key::StructuralKey;
pub use kind::StructuralKind;
pub use region::DefRegion;
pub use visit::WalkOrder;

/// Registers the structural key class and the hooks of built-in types, unless they are registered
/// already. Must run after [`reflection::install`](crate::reflection::install), so that the class
/// gets upstream's type index, and before C++ code reads an attribute column.
///
/// # Errors
/// MemoryError; registrations made before the error stay.
pub fn install() -> Result<()> {
    key::install()?;
    visit::install()?;
    mutate::install()
}

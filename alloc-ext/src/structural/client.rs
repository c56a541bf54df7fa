//! Structural operations of the loaded `libtvm_ffi`: equality, hash, visits and mutations by
//! content, with variables identified by where they are defined instead of by name.

pub(crate) mod any_arg;
mod closures;
mod native;
#[path = "operations_client.rs"]
mod operations;
mod region;
pub(crate) mod walker;

pub use closures::{Answer, Callbacks, Flow, Mutator, Node, Recursive, Structural, Visitor, Walk};
pub use equal::Options;
pub use key::StructuralKey;
pub use kind::StructuralKind;
pub use region::DefRegion;
pub use visit::WalkOrder;

#[path = "equal/client.rs"]
pub mod equal;
#[path = "key_client.rs"]
pub mod key;
mod kind;
#[path = "visit/client.rs"]
pub mod visit;

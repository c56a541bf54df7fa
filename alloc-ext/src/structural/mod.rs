//! Operations on the structure of values: what is bound where matters, names of variables do not.
//!
//! | part | holds |
//! |---|---|
//! | [`equal`] | equality, hash and the first mismatch |
//! | [`visit`] | visits and walks with callbacks, interrupts, and the context of their errors |
//! | [`mutate`] | maps and mutations, in place where nobody else holds the value |

pub mod equal;
mod kind;
pub mod mutate;
mod region;
pub mod visit;

pub use kind::StructuralKind;
pub use region::DefRegion;

//! Operations on whole values by reflection: their text and their copies, as upstream's dataclass
//! functions have them.
//!
//! All of them go through [`crate::walk`]: nothing recurses, and types may register hooks in attribute columns.

mod copy;
mod environment;
mod float_text;
mod functions;
mod hook;
mod int_text;
mod repr;
mod repr_leaf;
mod text;

pub use copy::deep_copy;
pub use functions::FUNCTIONS;
pub use repr::repr_print;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

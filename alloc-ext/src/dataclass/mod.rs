//! Recursive operations on values by reflection: repr, deep copy, equality, order and hash. The
//! counterpart of upstream's dataclass functions.
//!
//! All operations are iterative, on [`crate::walk`], and call the hooks that types register in
//! attribute columns.

mod compare;
mod compare_children;
mod compare_leaf;
mod copy;
mod enums;
mod functions;
mod hash;
mod hash_leaf;
pub(crate) mod int_text;
mod repr;
mod repr_leaf;
mod text;

pub use compare::{recursive_compare, recursive_eq};
pub use copy::deep_copy;
pub use functions::FUNCTIONS;
pub use hash::recursive_hash;
pub(crate) use hash_leaf::{combine, type_key_hash};
pub use repr::repr_print;

#[cfg(test)]
mod order_tests;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

//! Structural operations as methods of all values, with closures for the nodes that they reach.
//!
//! | part | content |
//! |---|---|
//! | `operations` | the trait [`Structural`] |
//! | `links` | closures that choose their nodes by the type of their parameter, and tuples of these |
//! | `node` | nodes that a closure does not refer to |
//! | `types` | the types of the nodes for which closures are called |
//! | `answers` | what closures may return |
//! | `visitor`, `mutator` | what the closures of visits and mutations get beside the node |
#![forbid(unsafe_code)]

mod answers;
mod links;
mod mutator;
mod node;
mod operations;
mod types;
mod visitor;

#[cfg(test)]
mod tests;

pub use answers::{Answer, Flow, Walk};
pub use links::{Callbacks, Recursive};
pub use mutator::Mutator;
pub use node::Node;
pub use operations::Structural;
pub use visitor::Visitor;

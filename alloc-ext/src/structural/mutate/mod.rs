//! Structural maps and mutations: callbacks and type hooks rewrite values.
//!
//! Unchanged values keep their identity. A value is copied before it is changed, unless neither it
//! nor any value on the path from the root is shared; then it may be changed in place.
//!
//! | part | content |
//! |---|---|
//! | `mutator` | calls through the function table of a mutator, created by this library or by C++ |
//! | `rule`, `engine` | this library's own mutators: callbacks by type, and the variable remap |
//! | `mutation`, `node` | the mutation walk, and the values that it enters |
//! | `slots`, `fields` | rewriting of the children of containers and of other objects |
//! | `hooks` | mutation hooks of built-in types |

mod engine;
mod fields;
pub(super) mod functions;
mod hooks;
mod mutation;
mod mutator;
mod node;
mod rule;
mod slots;
mod unchanged;

#[cfg(test)]
mod tests;

pub use functions::FUNCTIONS;
pub use hooks::install;

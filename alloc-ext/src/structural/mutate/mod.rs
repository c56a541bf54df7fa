//! Structural maps and mutations: values are rewritten by callbacks and by hooks of their types.
//!
//! What does not change keeps its identity. What changes is copied first, unless nobody else holds it, nor anything on the
//! way to it from the root: then it may be changed where it stands.
//!
//! | part | holds |
//! |---|---|
//! | `mutator` | mutators by their table of functions, whoever made them |
//! | `engine` | this library's own: callbacks by type, and replacements of variables |
//! | `mutation`, `frame` | the walk of both, and what is open in it |
//! | `slots`, `fields` | the inside of containers and of other objects |
//! | `hooks` | the hooks of built-in types for everybody's mutators |

mod engine;
mod fields;
mod frame;
mod functions;
mod hooks;
mod mutation;
mod mutator;
mod slots;
mod unchanged;

#[cfg(test)]
mod tests;

pub use functions::FUNCTIONS;
pub use hooks::install;

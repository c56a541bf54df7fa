//! Structural maps and mutations: callbacks and type hooks rewrite values.
//!
//! Unchanged values keep their identity. Changed values are copied first, unless neither they nor any value on the path from
//! the root is shared; then they may be changed in place.
//!
//! | part | content |
//! |---|---|
//! | `mutator` | calls through the function table of any mutator, of this library or of C++ |
//! | `engine` | this library's mutators: callbacks by type, and replacements of variables |
//! | `mutation`, `frame` | the walk and its frames |
//! | `slots`, `fields` | children of containers and of other objects |
//! | `hooks` | hooks of built-in types, for any mutator |

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

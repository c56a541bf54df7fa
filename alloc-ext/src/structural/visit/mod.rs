//! Structural visits and walks: callbacks over everything that counts in a value, until one interrupts.
//!
//! | part | holds |
//! |---|---|
//! | `visitor` | calls through a visitor's table of functions, whoever made the visitor |
//! | `engine` | the visitors of this library: callbacks, and the loop that goes through values |
//! | `descent` | what is directly inside a value, one by one |
//! | `hooks` | the hooks of containers in the column `__s_visit__` |
//! | `access_paths` | where in a value the nodes of an error's context are |
//! | `functions` | the global functions |

mod access_paths;
mod descent;
mod engine;
mod functions;
mod hooks;
mod visitor;

#[cfg(test)]
mod access_path_tests;
#[cfg(test)]
mod tests;

pub use access_paths::find_access_paths;
pub use engine::{WalkOrder, structural_visit, structural_walk};
pub use functions::FUNCTIONS;
pub use hooks::install;
pub use visitor::{VisitorVTable, default_visit, visit};

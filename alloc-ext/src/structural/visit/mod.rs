//! Structural visits and walks: callbacks for all nodes of a value, until one interrupts.
//!
//! | part | content |
//! |---|---|
//! | `visitor` | calls through the function table of any visitor, of this library or of C++ |
//! | `engine` | this library's visitors: callbacks, and the iterative walk |
//! | `children` | children of a value with their definition regions |
//! | `hooks` | hooks of containers in the column `__s_visit__` |
//! | `access_paths` | access paths to the nodes of an error context |
//! | `functions` | the global functions |

mod access_paths;
mod children;
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

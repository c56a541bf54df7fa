//! Structural visits and walks: call user callbacks for the nodes of a value, until one returns an
//! interrupt.
//!
//! | part | content |
//! |---|---|
//! | `visitor` | calls through the function table of a visitor, created by this library or by C++ |
//! | `engine` | this library's own visitors: callbacks by type, and the iterative walk |
//! | `children` | iterator over the children of a value, with their definition regions |
//! | `hooks` | visit hooks, in the column `__s_visit__`: those of containers, and visits by hooks |
//! | `access_paths` | search for the access paths of an error context |
//! | `functions` | the global functions |

mod access_paths;
mod children;
mod engine;
pub(super) mod functions;
mod hooks;
mod order;
mod visitor;

#[cfg(test)]
mod access_path_tests;
#[cfg(test)]
mod tests;

pub use access_paths::find_access_paths;
pub use functions::FUNCTIONS;
pub use hooks::install;
pub use order::WalkOrder;

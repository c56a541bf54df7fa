//! Calls: packed and typed functions, functions exported from kernel libraries, and the runtime
//! support of generated code.
//!
//! | module | content |
//! |---|---|
//! | [`function`] | function objects, and the safe-call convention of C |
//! | [`typed`] | typed calls, with upstream's messages |
//! | [`export`] | functions exported from a kernel library |
//! | `backend` | workspaces, parallel loops and one-time initialisers for functions compiled by TVM |
//! | `init_once` | one-time initialisation of handles by user callbacks |

#[cfg(not(feature = "client"))]
pub mod backend;
pub mod export;
pub mod function;
#[cfg(not(feature = "client"))]
pub mod init_once;
pub mod typed;

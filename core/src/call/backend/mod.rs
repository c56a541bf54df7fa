//! Runtime support for functions compiled by TVM: workspaces, parallel loops and one-time
//! initialisers.
//!
//! | file | content |
//! |---|---|
//! | [`workspace`] | temporary buffers in main memory |
//! | [`launcher`] | the interface of launchers |
//! | [`parallel`] | parallel launches and barriers, and the installed launcher |
//! | `serial` | the launcher of builds without threads |
//! | [`run_once`](mod@run_once) | initialisers that run once per handle |
//!
//! # Upstream
//! `include/tvm/runtime/c_backend_api.h` of Apache TVM; upstream implements it in `libtvm_runtime`.

pub mod launcher;
pub mod parallel;
pub mod run_once;
mod serial;
pub mod workspace;

pub use launcher::{Launcher, ParallelGroupEnv, ParallelLambda};
pub use parallel::{install_launcher, parallel_barrier, parallel_launch};
pub use run_once::run_once;
pub use workspace::{alloc_workspace, free_workspace};

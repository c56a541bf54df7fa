//! Helpers for cross-crate tests: the built library, the C compiler, and running programs.
//!
//! Nothing is skipped silently: a missing tool is an error that says what to install.
#![forbid(unsafe_code)]

mod cc;
pub mod device;
mod failure;
pub mod firmware;
mod library;
mod paths;
mod process;
mod stand_in;

pub use cc::Cc;
pub use failure::{Failure, Outcome};
pub use library::Library;
pub use paths::{aot, include, quickstart, root, scratch};
pub use process::{output_of, program, require, require_arm_gcc, valgrind};
pub use stand_in::{stand_in, stand_in_unless_real};

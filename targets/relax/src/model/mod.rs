//! Models for programs: an executable with a machine that is ready to run, whose inputs have names.
//!
//! | file | holds |
//! |---|---|
//! | `record` | [`Model`], the object |
//! | `kernels` | [`Kernel`], a kernel that is linked into the program |

mod kernels;
mod record;

pub use kernels::{Kernel, find};
pub use record::Model;

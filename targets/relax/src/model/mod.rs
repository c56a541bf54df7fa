//! Models for embedding in programs: an executable with an initialized machine, whose inputs have names.
//!
//! | file | content |
//! |---|---|
//! | `record` | [`Model`], the model object |
//! | `kernels` | [`Kernel`], a kernel linked into the program |

mod kernels;
mod record;

pub use kernels::{Kernel, find};
pub use record::Model;

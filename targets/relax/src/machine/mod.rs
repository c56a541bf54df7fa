//! The virtual machine: devices, functions, frames, the interpreter, instruments, saved functions.
//!
//! | file | holds |
//! |---|---|
//! | `context` | [`Context`], the machine as builtins see it |

mod context;

pub use context::Context;

use ferrite_core::memory::Buffer;

use crate::memory::Allocator;

/// A machine that runs the functions of one executable.
pub struct Machine {
    /// The allocator of each device; device 0 is that of the model, the last one is a CPU and holds shapes.
    allocators: Buffer<Allocator>,
}

//! Devices other than the CPU: one back end per device type, and the code shared by all back ends.
//!
//! | file | purpose |
//! |---|---|
//! | `backend` | [`Backend`], the interface that a back end implements |
//! | `table` | back ends registered by device type |
//! | `error` | errors of unsupported operations |
//! | `copy` | copies between devices, and between device and main memory |
//! | `tensor` | tensor objects in device memory |
//! | `handle`, `stream`, `event`, `device_tensor` | [`Device`], [`Stream`], [`Event`] and [`DeviceTensor`], the safe Rust API |
//! | `graph` | [`Graph`], recorded commands |
//! | `workspace` | scratch memory for compiled code |
//!
//! A device type has at most one back end. No operating system is needed: firmware can register a
//! back end for its accelerator, and a browser one for WebGPU.

mod backend;
mod copy;
mod device_tensor;
mod error;
mod event;
mod graph;
mod handle;
pub mod stream;
mod table;
mod tensor;
mod workspace;

pub use backend::{Attribute, Backend, Region};
pub use copy::{copy, copy_tensor, finish_copy, is_main_memory, uses_main_memory_later};
pub use device_tensor::DeviceTensor;
pub use event::Event;
pub use graph::Graph;
pub use handle::Device;
pub use stream::Stream;
#[cfg(feature = "std")]
pub use table::{FindRemote, register_remote};
pub use table::{HIGHEST_TYPE, find, get, register, registered};
pub use tensor::{allocate_tensor, empty};
pub use workspace::{allocate_workspace, free_workspace};

use crate::env::tensor_alloc;

/// Installs the registered back ends as the provider of workspaces for compiled code, and as the
/// fallback of `TVMFFIEnvTensorAlloc` if no allocator is set.
///
/// # Threads
/// Any; atomic stores.
pub fn install() {
    workspace::install();
    tensor_alloc::install_default(tensor::allocate_by_default);
}

#[cfg(all(test, feature = "std"))]
mod interface_tests;
#[cfg(all(test, feature = "std"))]
mod tests;

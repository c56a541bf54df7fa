//! Devices other than the CPU: one back end per device type, and the code that all back ends share.
//!
//! | file | purpose |
//! |---|---|
//! | `backend` | [`Backend`], the interface that a back end implements |
//! | `table` | registered back ends, by device type |
//! | `copy` | copies between devices, and between a device and main memory |
//! | `tensor` | tensor objects in device memory |
//! | `handle`, `stream`, `event`, `device_tensor` | [`Device`], [`Stream`], [`Event`] and [`DeviceTensor`], the safe
//! interface for Rust programs |
//! | `workspace` | workspaces of compiled code |
//!
//! A device type has at most one back end. No operating system is needed: firmware can register the back end of its
//! accelerator, and a browser that of WebGPU.

mod backend;
mod copy;
mod device_tensor;
mod event;
mod handle;
pub mod stream;
mod table;
mod tensor;
mod workspace;

pub use backend::{Attribute, Backend, Region};
pub use copy::{copy, copy_tensor, is_main_memory};
pub use device_tensor::DeviceTensor;
pub use event::Event;
pub use handle::Device;
pub use stream::Stream;
pub use table::{HIGHEST_TYPE, find, get, register, registered};
pub use tensor::{allocate_tensor, empty};
pub use workspace::{allocate_workspace, free_workspace};

use crate::env::tensor_alloc;

/// Makes the library use the registered back ends for workspaces of compiled code, and for `TVMFFIEnvTensorAlloc` if no
/// allocator is set.
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

//! Memory of models: storages, tensors placed in them, and the allocators of storages.
//!
//! | file | content |
//! |---|---|
//! | `allocator` | [`Allocator`], one for each device and kind in the process; [`Block`], owned device memory; usage counters |
//! | `free_lists` | free blocks of a pooled allocator, by size |
//! | `device_memory` | main memory, and with the feature `devices` the memory of devices with a back end |
//! | `storage` | [`Storage`], the class `vm.Storage` |
//! | `spare_tensors` | tensor objects that a machine reuses |
//! | `tensor` | tensors over the memory of another object |

mod allocator;
#[cfg_attr(not(feature = "devices"), path = "device_memory/host_only.rs")]
mod device_memory;
mod free_lists;
mod spare_tensors;
mod storage;
mod tensor;
#[cfg(all(test, feature = "devices"))]
pub(crate) mod testing;

pub use allocator::{Allocator, Block, Kind, Usage, clear, usage};
pub(crate) use device_memory::required_alignment;
pub use device_memory::{ALIGNMENT, copy, empty};
#[cfg(feature = "kv-cache")]
pub(crate) use device_memory::{CopyStream, send};
pub(crate) use spare_tensors::SpareTensors;
pub use storage::Storage;
#[cfg(feature = "all-builtins")]
pub(crate) use tensor::is_placed;
#[cfg(feature = "kv-cache")]
pub(crate) use tensor::renew_view;
pub(crate) use tensor::{Placement, SpareTensor, tensor_over};

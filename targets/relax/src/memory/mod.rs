//! Memory of models: storages, tensors over them, and the allocators that storages come from.
//!
//! | file | holds |
//! |---|---|
//! | `allocator` | [`Allocator`], one for each device and kind in the process; [`Block`], memory that goes back when dropped; counters |
//! | `free_lists` | the blocks that a pooled allocator keeps, by size |
//! | `device_memory` | main memory, and with the feature `devices` that of devices with a back end |
//! | `storage` | [`Storage`], the class `vm.Storage` |
//! | `spare_tensors` | tensors that a machine makes again |
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

pub use allocator::{ALIGNMENT, Allocator, Block, Kind, Usage, clear, usage};
pub use device_memory::{copy, empty};
pub(crate) use spare_tensors::SpareTensors;
pub use storage::Storage;
pub(crate) use tensor::{Placement, SpareTensor, tensor_over};

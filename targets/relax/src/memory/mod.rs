//! Memory of models: storages, tensors over them, and the allocators that storages come from.
//!
//! | file | holds |
//! |---|---|
//! | `allocator` | [`Allocator`], one for each device and kind in the process; [`Block`], memory that goes back when dropped |
//! | `naive`, `pooled` | the two kinds of allocator |
//! | `storage` | [`Storage`], the class `vm.Storage` |
//! | `tensor` | tensors over the memory of another object |

mod allocator;
mod storage;
mod tensor;

pub use allocator::{Allocator, Block, Kind, clear};
pub use storage::Storage;
pub(crate) use tensor::{Placement, tensor_over};

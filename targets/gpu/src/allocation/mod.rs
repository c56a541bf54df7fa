//! Reuse of device memory without a wait.
//!
//! | file | content |
//! |---|---|
//! | `streams` | streams whose commands may use memory that is freed |
//! | `pool` | a driver's pool of memory that is ordered by streams |
//! | `free_list` | freed memory of devices with a single queue |

#[cfg(any(feature = "opencl", feature = "vulkan"))]
mod free_list;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod pool;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod streams;

#[cfg(any(feature = "opencl", feature = "vulkan"))]
pub(crate) use free_list::FreeList;
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use pool::{Allocation, POOL_RELEASE_THRESHOLD, Pool, PoolDriver, PoolProperties};
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use streams::{StreamDriver, UsedStreams, order_streams};

//! Reuse of device memory without a wait.
//!
//! | file | content |
//! |---|---|
//! | `streams` | streams whose commands may use memory that is freed |
//! | `free_list` | freed memory of devices with a single queue |

#[cfg(any(feature = "opencl", feature = "vulkan"))]
mod free_list;
#[cfg(feature = "cuda")]
mod streams;

#[cfg(any(feature = "opencl", feature = "vulkan"))]
pub(crate) use free_list::FreeList;
#[cfg(feature = "cuda")]
pub(crate) use streams::{StreamDriver, UsedStreams};

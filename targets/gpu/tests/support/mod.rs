//! Support of the test programs: calls, a table of the kinds of devices, the cases that every kind
//! passes, children of forks, and the drivers that tests run on.
#![allow(dead_code, unused_imports, unused_macros, reason = "each program uses a part")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

pub mod calls;
#[cfg(any(feature = "opencl", feature = "vulkan", feature = "webgpu"))]
pub mod cases;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod fork;
#[cfg(any(feature = "opencl", feature = "vulkan", feature = "webgpu"))]
pub mod kind;
#[cfg(feature = "rocm")]
pub mod rocm;
pub mod stand_in;

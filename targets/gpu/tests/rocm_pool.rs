//! Tests the pool of device memory of ROCm on the stand-in.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

#[path = "common/pool.rs"]
mod pool;
mod support;

use support::rocm as driver;

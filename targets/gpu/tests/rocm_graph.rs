//! Tests recorded commands of ROCm on a real driver if a GPU is found, otherwise on the stand-in.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

#[path = "common/graph.rs"]
mod graph;
mod support;

use support::rocm as driver;

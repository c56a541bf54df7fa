//! Programs without `unsafe` that once reached undefined behaviour. Each must raise an error or do
//! what it says; the second set runs them under Miri, with both models of borrows, and the first
//! under the thread and the address sanitizer. Those that must not compile are in
//! `tests/programs/rust/mistakes`.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, reason = "helpers of tests")]

mod addresses;
mod calls;
mod contexts;
mod hooks;
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
mod kept_views;
mod keys;
mod lists;
mod memory;
mod tensors;
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
mod unloading;
mod walks;
mod zeros;

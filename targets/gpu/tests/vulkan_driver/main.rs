//! Tests Vulkan with a wrapper around the driver of this machine, which fails at any call, hides
//! features of newer drivers, and counts live objects. A program of its own, which runs itself once
//! for each kind of driver.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[path = "."]
mod vulkan_driver {
    pub mod allocations;
    pub mod driver;
    pub mod runs;
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn main() {
    vulkan_driver::runs::main();
}

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
fn main() {
    println!(
        "not run: the wrapper knows the calling conventions of x86-64 and AArch64 Linux alone"
    );
}

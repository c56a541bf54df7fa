//! Host services that need an operating system: dynamic libraries, stack bounds, backtraces, and a
//! thread pool for parallel loops.

pub mod backtrace;
pub mod dynamic_lib;
#[cfg(target_os = "linux")]
mod elf_file;
mod environment;
#[cfg_attr(
    not(all(feature = "backtrace", unix)),
    expect(dead_code, reason = "stack walks need more than loading")
)]
mod fork_gate;
pub mod forks;
pub mod stack;
pub mod thread_pool;
#[cfg(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod unwinder;
mod wait;

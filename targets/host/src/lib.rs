//! What the library needs from an operating system: dynamic libraries, threads, stacks and backtraces.

pub mod backtrace;
pub mod dynamic_lib;
pub mod stack;
pub mod thread_pool;

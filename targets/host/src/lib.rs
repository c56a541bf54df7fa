//! What the library needs from an operating system: dynamic libraries, threads and backtraces.

pub mod backtrace;
pub mod dynamic_lib;
pub mod thread_pool;

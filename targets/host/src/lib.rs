//! What the library needs from an operating system: dynamic libraries, the bounds of stacks, backtraces, and a thread pool for
//! parallel loops.

pub mod backtrace;
pub mod dynamic_lib;
pub mod stack;
pub mod thread_pool;

//! The seam to operating system, processor and firmware: memory, locks, threads, the log and
//! backtraces.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | capacities, chosen when the library is built |
//! | [`memory`] | all memory but that of objects: `malloc` on hosts, a pool of blocks elsewhere; [`Buffer`](memory::Buffer) |
//! | [`sync`] | locks, atomics, state of each thread, and fork handlers |
//! | [`stack`], [`unwind`], [`backtrace`] | the rest of the stack, caught panics, and backtraces |
//! | `log` | lines on standard error |
//! | [`text`], [`words`] | text writers without `core::fmt`; comparison of short strings as words |
//! | [`prefetch`] | prefetch hints, on x86-64 hosts |
//! | [`upstream_release`] | compatibility with earlier releases of upstream |
//! | `hooks` | functions that firmware may define, for memory and tasks |
//! | `lazy_link` | code that microcontroller builds link only into programs that need it |

pub mod backtrace;
pub mod config;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub mod hooks;
pub(crate) mod lazy_link;
#[cfg(feature = "std")]
pub(crate) mod log;
pub mod memory;
pub mod prefetch;
pub mod stack;
pub mod sync;
pub mod text;
pub mod unwind;
pub mod upstream_release;
pub mod words;

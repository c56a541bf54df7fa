//! Environment variables, read without the heap: `std::env::var` copies the text with an allocator
//! that aborts the process when out of memory.

#[cfg_attr(windows, path = "windows.rs")]
#[cfg_attr(not(windows), path = "unix.rs")]
mod system;

pub(crate) use system::read;

//! The system's dynamic linker: opens libraries, and finds symbols in them.
//!
//! The functions of the system are called directly. Crates for dynamic loading copy the system's
//! error message with an allocator that aborts when out of memory, and treat a missing symbol as an
//! error, although most lookups here are for symbols that may be missing.

#[cfg_attr(windows, path = "windows.rs")]
#[cfg_attr(not(windows), path = "unix.rs")]
mod system;
#[cfg(not(windows))]
mod truncated;

pub(super) use system::{
    LoadError, close, find_loaded, object_of, open, open_resolved, process_shows, symbol,
    symbol_beside,
};

//! C symbols.

use core::ffi::{CStr, c_void};

/// A C symbol: its name and its address.
pub struct Symbol {
    name: &'static CStr,
    address: *const c_void,
}

// SAFETY: addresses of functions, which any thread may call.
unsafe impl Sync for Symbol {}

impl Symbol {
    /// Creates a symbol.
    ///
    /// # Safety
    /// The address must be that of a function of this name, and stay valid until the process ends:
    /// libraries call it.
    pub const unsafe fn new(name: &'static CStr, address: *const c_void) -> Symbol {
        Symbol { name, address }
    }

    /// Returns the name.
    pub const fn name(&self) -> &'static CStr {
        self.name
    }

    /// Returns the address.
    pub const fn address(&self) -> *const c_void {
        self.address
    }
}

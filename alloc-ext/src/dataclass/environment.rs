//! Options of printing from environment variables.

#[cfg(feature = "std")]
mod imp {
    pub(super) fn wants_addresses() -> bool {
        std::env::var_os("TVM_FFI_REPR_WITH_ADDR").is_some_and(|value| value == "1")
    }
}

#[cfg(not(feature = "std"))]
mod imp {
    pub(super) fn wants_addresses() -> bool {
        false
    }
}

/// Whether texts of objects tell their addresses: `TVM_FFI_REPR_WITH_ADDR` is `1`. Without std there is no environment.
pub(super) fn wants_addresses() -> bool {
    imp::wants_addresses()
}

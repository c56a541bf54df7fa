//! Printing options from environment variables.

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

/// Returns `true` if objects are printed with their address, because the environment variable
/// `TVM_FFI_REPR_WITH_ADDR` is `1`. Always `false` without `std`.
pub(super) fn wants_addresses() -> bool {
    imp::wants_addresses()
}

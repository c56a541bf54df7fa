//! Errors of devices: names of device types, and unsupported operations.
#![forbid(unsafe_code)]

use ferrite_core::error::Error;
use ferrite_core::plain_error;
use ferrite_core::value::device;

/// Returns the name of a device type, for error messages.
pub(super) fn type_text(device_type: i32) -> &'static str {
    device::type_name(device_type).unwrap_or("of an unknown type")
}

/// Returns the RuntimeError for an operation that a device type does not support.
#[cold]
pub(super) fn unsupported(what: &str, device_type: i32) -> Error {
    plain_error!(RUNTIME_ERROR, "Devices {} have no {}", type_text(device_type), what)
}

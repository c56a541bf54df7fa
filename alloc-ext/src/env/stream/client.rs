//! Current stream of each thread and device, in the loaded `libtvm_ffi`.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::abi::client;
use ferrite_core::call::function::check_status;
use ferrite_core::error::Result;

mod key;
mod scope;

pub use key::DeviceKey;
pub use scope::scope;

/// Sets the current stream of this thread for a device. Returns the previous stream, or null.
///
/// The stream is neither used here nor owned.
///
/// # Errors
/// Errors of the library; MemoryError. After an error the stream is unchanged.
///
/// # Safety
/// The stream must be null or a stream of the device, and stay valid while it is set: kernels and
/// copies of the device use it.
///
/// # Upstream
/// `TVMFFIEnvSetStream`.
pub unsafe fn set(device: DeviceKey, stream: *mut c_void) -> Result<*mut c_void> {
    device.check()?;
    let (device_type, device_id) = device.parts();
    let mut original = ptr::null_mut();
    // SAFETY: the result is writable; the stream is not used.
    check_status(unsafe {
        client::TVMFFIEnvSetStream(device_type, device_id, stream, &mut original)
    })?;
    Ok(original)
}

/// Returns the current stream of this thread for a device; null if none was set or the device is
/// out of range.
///
/// # Upstream
/// `TVMFFIEnvGetStream`.
pub fn get(device: DeviceKey) -> *mut c_void {
    if device.check().is_err() {
        return ptr::null_mut();
    }
    let (device_type, device_id) = device.parts();
    // SAFETY: takes plain numbers.
    unsafe { client::TVMFFIEnvGetStream(device_type, device_id) }
}

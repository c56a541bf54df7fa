//! Errors of the Vulkan driver.
//!
//! Under a lock, a failure is passed on as the driver's result code ([`Outcome`]): creating an
//! error object may call a user's allocator, and no user callback runs under a lock.
#![forbid(unsafe_code)]

use ash::vk;
use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

/// Result whose failure is the driver's result code.
pub(super) type Outcome<T> = core::result::Result<T, vk::Result>;

/// Converts a result code into an outcome. Positive codes, such as `VK_INCOMPLETE`, are successes.
#[inline]
pub(super) fn check(code: vk::Result) -> Outcome<()> {
    if code.as_raw() >= 0 { Ok(()) } else { Err(code) }
}

/// Returns the error for a result code: MemoryError if the device or the driver is out of memory,
/// otherwise InternalError.
#[cold]
pub(super) fn error(code: vk::Result) -> Error {
    if is_out_of_memory(code) {
        plain_error!(MEMORY_ERROR, "Vulkan Error, code={}: {}", code.as_raw(), name(code))
    } else {
        plain_error!(INTERNAL_ERROR, "Vulkan Error, code={}: {}", code.as_raw(), name(code))
    }
}

/// Converts a failed outcome into an error.
///
/// # Errors
/// Same errors as [`error`].
pub(super) fn raise<T>(outcome: Outcome<T>) -> Result<T> {
    outcome.map_err(error)
}

/// Returns `true` if a result code says that main memory, device memory or the number of
/// allocations is exhausted.
pub(super) fn is_out_of_memory(code: vk::Result) -> bool {
    matches!(
        code,
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
            | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
            | vk::Result::ERROR_OUT_OF_POOL_MEMORY
            | vk::Result::ERROR_TOO_MANY_OBJECTS
            | vk::Result::ERROR_FRAGMENTED_POOL
            | vk::Result::ERROR_FRAGMENTATION
    )
}

/// Returns the name of a result code.
pub(super) fn name(code: vk::Result) -> &'static str {
    const SUCCESSES: [&str; 6] = [
        "VK_SUCCESS",
        "VK_NOT_READY",
        "VK_TIMEOUT",
        "VK_EVENT_SET",
        "VK_EVENT_RESET",
        "VK_INCOMPLETE",
    ];
    const ERRORS: [&str; 13] = [
        "VK_ERROR_OUT_OF_HOST_MEMORY",
        "VK_ERROR_OUT_OF_DEVICE_MEMORY",
        "VK_ERROR_INITIALIZATION_FAILED",
        "VK_ERROR_DEVICE_LOST",
        "VK_ERROR_MEMORY_MAP_FAILED",
        "VK_ERROR_LAYER_NOT_PRESENT",
        "VK_ERROR_EXTENSION_NOT_PRESENT",
        "VK_ERROR_FEATURE_NOT_PRESENT",
        "VK_ERROR_INCOMPATIBLE_DRIVER",
        "VK_ERROR_TOO_MANY_OBJECTS",
        "VK_ERROR_FORMAT_NOT_SUPPORTED",
        "VK_ERROR_FRAGMENTED_POOL",
        "VK_ERROR_UNKNOWN",
    ];
    match code {
        vk::Result::ERROR_OUT_OF_POOL_MEMORY => return "VK_ERROR_OUT_OF_POOL_MEMORY",
        vk::Result::ERROR_FRAGMENTATION => return "VK_ERROR_FRAGMENTATION",
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => return "VK_ERROR_INVALID_EXTERNAL_HANDLE",
        vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS => {
            return "VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS";
        }
        vk::Result::ERROR_INVALID_SHADER_NV => return "VK_ERROR_INVALID_SHADER_NV",
        vk::Result::ERROR_VALIDATION_FAILED_EXT => return "VK_ERROR_VALIDATION_FAILED_EXT",
        vk::Result::ERROR_NOT_PERMITTED_KHR => return "VK_ERROR_NOT_PERMITTED_KHR",
        _ => {}
    }
    let found = match usize::try_from(code.as_raw()) {
        Ok(success) => SUCCESSES.get(success),
        Err(_) => ERRORS.get(code.as_raw().unsigned_abs() as usize - 1),
    };
    found.copied().unwrap_or("an unknown error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names() {
        let cases = [
            (0, "VK_SUCCESS"),
            (5, "VK_INCOMPLETE"),
            (-1, "VK_ERROR_OUT_OF_HOST_MEMORY"),
            (-4, "VK_ERROR_DEVICE_LOST"),
            (-9, "VK_ERROR_INCOMPATIBLE_DRIVER"),
            (-13, "VK_ERROR_UNKNOWN"),
            (-1_000_069_000, "VK_ERROR_OUT_OF_POOL_MEMORY"),
        ];
        for (code, expected) in cases {
            assert_eq!(name(vk::Result::from_raw(code)), expected);
        }
        for code in [6, -14, i32::MIN, i32::MAX] {
            assert_eq!(name(vk::Result::from_raw(code)), "an unknown error");
        }
    }

    #[test]
    fn lack_of_memory_is_a_memory_error() {
        for code in [-1, -2, -10, -12, -1_000_069_000] {
            assert_eq!(error(vk::Result::from_raw(code)).kind_bytes(), b"MemoryError");
        }
        let lost = error(vk::Result::ERROR_DEVICE_LOST);
        assert_eq!(lost.kind_bytes(), b"InternalError");
        assert_eq!(lost.message_bytes(), b"Vulkan Error, code=-4: VK_ERROR_DEVICE_LOST");
    }
}

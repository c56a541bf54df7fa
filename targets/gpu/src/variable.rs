//! Environment variables that select drivers and devices.

use core::ffi::{CStr, c_char};

/// Returns the value of an environment variable; `None` if it is not set.
pub(crate) fn get(name: &CStr) -> Option<&'static [u8]> {
    get_c_str(name).map(CStr::to_bytes)
}

/// Returns the value of an environment variable as a C string; `None` if it is not set.
pub(crate) fn get_c_str(name: &CStr) -> Option<&'static CStr> {
    unsafe extern "C" {
        fn getenv(name: *const c_char) -> *const c_char;
    }
    // SAFETY: the name ends in a NUL, and so does the result; programs change their environment before they start threads.
    unsafe {
        let value = getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

/// Returns `true` if a name contains a string, ignoring case.
#[cfg_attr(
    not(any(feature = "opencl", feature = "vulkan", feature = "webgpu", target_vendor = "apple")),
    allow(dead_code, reason = "CUDA's own variable chooses its devices, by number")
)]
pub(crate) fn contains(name: &[u8], text: &[u8]) -> bool {
    text.is_empty() || name.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn devices_are_chosen_by_a_part_of_their_name() {
        assert!(contains(b"Portable Computing Language", b"computing"));
        assert!(contains(b"NVIDIA CUDA", b"") && contains(b"NVIDIA CUDA", b"nvidia cuda"));
        assert!(!contains(b"NVIDIA CUDA", b"amd") && !contains(b"ab", b"abc"));
    }
}

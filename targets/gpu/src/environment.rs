//! Variables of the environment.

use core::ffi::{CStr, c_char};

/// The value of a variable, if it is set.
pub(crate) fn variable(name: &CStr) -> Option<&'static CStr> {
    unsafe extern "C" {
        fn getenv(name: *const c_char) -> *const c_char;
    }
    // SAFETY: the name ends in a NUL, as what comes back does; programs change their environment before they start threads.
    unsafe {
        let value = getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

//! Callbacks of the host language, by the loaded `libtvm_ffi`.

use core::ffi::{CStr, c_void};

use ferrite_core::abi::client;
use ferrite_core::call::function::check_status;
use ferrite_core::error::{Error, Result, raised_error};
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;

/// Error kind of an error that is already set in the host language, whose bindings raise that error
/// instead.
const ENV_ERROR_ALREADY_SET: &str = "EnvErrorAlreadySet";

/// Registers a function of the host language: `PyErr_CheckSignals`, `PyGILState_Ensure` or
/// `PyGILState_Release`. Replaces the function registered before under the name; null removes it.
///
/// # Errors
/// ValueError for any other name.
///
/// # Safety
/// `symbol` must be null or a function with the signature that its name implies, callable from any
/// thread from now on.
///
/// # Upstream
/// `TVMFFIEnvRegisterCAPI`.
pub unsafe fn register(name: &[u8], symbol: *mut c_void) -> Result<()> {
    let mut text = Buffer::try_with_capacity(name.len() + 1)?;
    text.try_extend_from_slice(name)?;
    text.try_push(0)?;
    let name = CStr::from_bytes_with_nul(&text)
        .map_err(|_| plain_error!(VALUE_ERROR, "Unknown env API {}", name))?;
    // SAFETY: the name is valid for the call; the caller guarantees the function.
    check_status(unsafe { client::TVMFFIEnvRegisterCAPI(name.as_ptr(), symbol) })
}

/// Makes the host language handle pending signals, if it registered a signal check.
///
/// # Errors
/// The error that a signal handler raised through the library; `EnvErrorAlreadySet` if the handler
/// set an error in the host language, where it stays; errors of the library.
///
/// # Upstream
/// `TVMFFIEnvCheckSignals`.
pub fn check_signals() -> Result<()> {
    let earlier = raised_error::take();
    // SAFETY: takes no arguments.
    if unsafe { client::TVMFFIEnvCheckSignals() } == 0 {
        if let Some(error) = earlier {
            raised_error::set(error);
        }
        return Ok(());
    }
    // Some libraries return the status of the host language without raising an error.
    Err(raised_error::take().unwrap_or_else(|| {
        Error::from_parts(ferrite_core::__error_site!(), ENV_ERROR_ALREADY_SET, &|out| {
            out.put(b"A signal handler of the environment raised an error");
        })
    }))
}

//! Registration of the symbols of system libraries in builds without modules. The header
//! `c_env_api.h` declares it.

use core::ffi::{CStr, c_char, c_int, c_void};

use ferrite_relax::model::register_system_symbol;

use crate::boundary::{self, arg};

/// Adds a symbol to the system library. In builds without modules the name is not copied, and the
/// capacity is `FERRITE_SYSTEM_SYMBOLS`, chosen when the library is built.
///
/// Generated code calls this from static constructors, before `main`. Returns 0, or -1 with an
/// error raised: ValueError for a null pointer, MemoryError if the capacity is exhausted, which is
/// also an error of `FerriteModelCreateFromSystemLibrary`.
///
/// # Safety
/// `symbol` must have the type implied by its name. Symbol and name must stay valid as long as the
/// program runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterSystemLibSymbol(
    name: *const c_char,
    symbol: *mut c_void,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let name = boundary::non_null(name, arg(1, "name"))?;
        let symbol = boundary::non_null(symbol, arg(2, "symbol"))?;
        let name = CStr::from_ptr(name.as_ptr().cast_const());
        register_system_symbol(name, symbol.as_ptr())
    })
}

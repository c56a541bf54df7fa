//! Models in system libraries: objects that TVM compiled with `system_lib`, which register their
//! symbols before `main`.

use core::ffi::{c_char, c_int};

use ferrite_core::abi::TVMFFIObjectHandle;
use ferrite_relax::model::Model;

use crate::boundary::{self, arg};

/// Creates a model from a system library: objects that TVM compiled with `system_lib` and that are
/// linked into the program. The model runs on the CPU.
///
/// `prefix` is the `system_lib_prefix` of the library, an empty string by default. In builds
/// without the feature `relax`, weights that are not aligned in the library are copied, and the
/// program lists the built-ins that its models call.
///
/// Returns 0 and stores the model, owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it.
/// On failure, returns -1 with an error raised: ValueError for a null pointer, InternalError or
/// TypeError if no library with a model is registered under the prefix, InternalError for a
/// malformed executable or a missing kernel, MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelCreateFromSystemLibrary(
    prefix: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        #[cfg(feature = "relax")]
        crate::builtins::ensure_installed();
        let out = boundary::out(out, arg(2, "out"))?;
        let prefix = boundary::c_str(prefix, arg(1, "prefix"))?;
        out.write_object(Some(Model::from_system_library(prefix)?));
        Ok(())
    })
}

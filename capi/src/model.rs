//! Whole models: an executable compiled by TVM, and the virtual machine that runs it.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObjectHandle};
use ferrite_core::{AnyView, plain_bail};
use ferrite_relax::executable::{Executable, Source};
use ferrite_relax::memory::Kind;
use ferrite_relax::model::{self, Kernel, Model};

use crate::boundary::{self, arg};

/// Makes a model from a serialised executable and kernels that are linked into the program.
///
/// `executable` points to `num_bytes` bytes that are unchanged while the program runs; if aligned to 64 bytes, weights
/// are used in place. Functions other than builtins are looked up among the `num_kernels` kernels.
///
/// Returns 0 and the model, which the caller owns and releases with `TVMFFIObjectDecRef`, in `out`; or -1 with an error
/// raised: InternalError for a malformed executable or a missing kernel, MemoryError with the number of bytes.
///
/// # Safety
/// The kernels are functions that TVM generated for this model, with zero-terminated names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelCreate(
    executable: *const c_void,
    num_bytes: usize,
    kernels: *const Kernel,
    num_kernels: i32,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(5, "out"))?;
        let start = boundary::non_null(executable, arg(1, "executable"))?;
        let bytes = core::slice::from_raw_parts(start.as_ptr().cast::<u8>().cast_const(), num_bytes);
        let kernels = boundary::slice(kernels, num_kernels, arg(3, "kernels"))?;
        let executable = Executable::load(Source::Static(bytes))?;
        let model = Model::new(executable, Kind::Naive, &|name| model::find(kernels, name))?;
        out.write_object(Some(model));
        Ok(())
    })
}

/// Calls a function of a model with arguments in the order of its parameters.
///
/// Tensors may be `DLTensor` pointers. Returns 0 and the value, which the caller owns, in `result`: a tensor, or an
/// array of values; or -1 with an error raised: ValueError for an unknown function, the model's own for invalid
/// arguments, MemoryError with the number of bytes. The model stays usable after every error.
///
/// # Safety
/// As `TVMFFIFunctionCall`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelCall(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let result_place = boundary::out(result, arg(5, "result"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = boundary::c_str(function, arg(2, "function"))?;
        boundary::slice(args, num_args, arg(3, "args"))?;
        let args = AnyView::slice_from_raw(args, num_args as usize);
        result_place.write(model.call(function, args)?.into_raw());
        Ok(())
    })
}

/// Loads a library that TVM's `export_library` wrote, and makes a model of its executable, on the CPU.
///
/// Only in builds with the feature `relax` for hosts. Returns 0 and the model, which the caller owns, in `out`; or -1 with an error
/// raised: InternalError for a file that cannot be opened, a malformed executable, and a missing kernel; TypeError for a library without
/// a whole model; MemoryError.
///
/// # Safety
/// Loading runs the library's initialisers; its kernels must be those of the model.
#[cfg(all(feature = "relax", feature = "host"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelLoad(path: *const c_char, out: *mut TVMFFIObjectHandle) -> c_int {
    // SAFETY: as the caller vouches.
    boundary::status(|| unsafe {
        crate::builtins::ensure_installed();
        let out = boundary::out(out, arg(2, "out"))?;
        let path = ferrite_core::String::from_bytes(boundary::c_str(path, arg(1, "path"))?)?;
        let module = ferrite_alloc_ext::module::Module::load_from_file(&path)?;
        out.write_object(Some(ferrite_relax::module::model(&module)?));
        Ok(())
    })
}

/// Tells the number of inputs of a function.
///
/// Returns 0 and the number in `count`; or -1 with an error raised: ValueError for an unknown function.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelNumInputs(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    count: *mut i32,
) -> c_int {
    // SAFETY: as the caller vouches.
    boundary::status(|| unsafe {
        let count = boundary::out(count, arg(3, "count"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = boundary::c_str(function, arg(2, "function"))?;
        count.write(model.machine().parameters(function)?.len() as i32);
        Ok(())
    })
}

/// Tells the name of an input of a function.
///
/// Returns 0 and the name in `name`, which lives as long as the model; or -1 with an error raised: ValueError for an unknown function,
/// IndexError for a number out of range.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelInputName(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    input: i32,
    name: *mut TVMFFIByteArray,
) -> c_int {
    // SAFETY: as the caller vouches.
    boundary::status(|| unsafe {
        let out = boundary::out(name, arg(4, "name"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = boundary::c_str(function, arg(2, "function"))?;
        let mut names = model.machine().parameters(function)?;
        let Some(text) = usize::try_from(input).ok().and_then(|input| names.nth(input)) else {
            plain_bail!(INDEX_ERROR, "The function has no input {}", input);
        };
        out.write(TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() });
        Ok(())
    })
}

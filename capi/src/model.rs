//! C functions for whole models: they load an executable compiled by TVM and run its functions on a virtual machine.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObjectHandle};
use ferrite_core::{AnyView, plain_bail};
use ferrite_relax::executable::{Executable, Source};
use ferrite_relax::memory::Kind;
use ferrite_relax::model::{self, Kernel, Model};

use crate::boundary::{self, arg};

/// Creates a model from a serialised executable and a table of kernels linked into the program.
///
/// `executable` points to `num_bytes` bytes that must stay unchanged while the program runs. If it is aligned to 64
/// bytes, weights are used in place. Functions other than built-ins are looked up in the `num_kernels` kernels.
///
/// Returns 0 and stores the model, owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it. On failure, returns
/// -1 with an error raised: ValueError for a null pointer, InternalError for a malformed executable or a missing
/// kernel, or MemoryError, whose message states the requested number of bytes.
///
/// # Safety
/// The kernels are functions that TVM generated for this model, with null-terminated names.
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

/// Calls a function of a model. Arguments are given in the order of the function's parameters.
///
/// Tensors may be passed as `DLTensor` pointers. Returns 0 and stores the result, owned by the caller, in `result`: a
/// tensor, or an array of values. On failure, returns -1 with an error raised: ValueError for an unknown function, an
/// error of the model for invalid arguments, or MemoryError, whose message states the requested number of bytes. The
/// model stays usable after an error.
///
/// # Safety
/// Same requirements as `TVMFFIFunctionCall`.
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

/// Loads a library written by TVM's `export_library`, and creates a model from its executable. The model runs on the
/// CPU.
///
/// Only in host builds with the feature `relax`. Returns 0 and stores the model, owned by the caller, in `out`. On
/// failure, returns -1 with an error raised: InternalError for a file that cannot be opened, a malformed executable,
/// and a missing kernel; TypeError for a library without a whole model; MemoryError.
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

/// Returns the number of inputs of a model's function.
///
/// Returns 0 and stores the number in `count`. On failure, returns -1 with an error raised: ValueError for an unknown
/// function.
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

/// Returns the name of an input of a model's function.
///
/// Returns 0 and stores the name in `name`; it is borrowed, and valid as long as the model lives. On failure, returns
/// -1 with an error raised: ValueError for an unknown function, IndexError for an input number out of range.
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

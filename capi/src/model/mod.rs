//! C functions for whole models: they load an executable compiled by TVM and run its functions on a
//! virtual machine.
//!
//! | file | content |
//! |---|---|
//! | this one | models are created, duplicated and called |
//! | `description` | functions, inputs and results of a model |
//! | `parameters` | weights in a separate file |
//! | `system_library` | models of objects that are linked into the program and register their symbols |
//! | `system_symbol` | registration of these symbols, in builds without modules |
//! | `measurement` | memory, and time per operator |

mod description;
#[cfg(all(feature = "relax", feature = "host"))]
mod measurement;
mod parameters;
#[cfg(any(feature = "relax", not(feature = "modules")))]
mod system_library;
#[cfg(not(feature = "modules"))]
mod system_symbol;

use core::ffi::{c_char, c_int, c_void};

#[cfg(feature = "relax")]
use ferrite_alloc_ext::{containers::ArrayObject, module::Module};
use ferrite_core::AnyView;
use ferrite_core::abi::{TVMFFIAny, TVMFFIObjectHandle};
use ferrite_relax::executable::{Executable, Source};
use ferrite_relax::memory::Kind;
use ferrite_relax::model::{Inputs, Kernel, Kernels, Model};

use crate::boundary::{self, arg};

/// Creates a model from a serialised executable and a table of kernels linked into the program.
///
/// `executable` points to `num_bytes` bytes and `kernels` to a table of `num_kernels` entries; both
/// must stay unchanged while the program runs. If the executable is aligned to 64 bytes, weights
/// are used in place. Functions other than built-ins are looked up in the table.
///
/// Returns 0 and stores the model, owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it.
/// On failure, returns -1 with an error raised: ValueError for a null pointer, InternalError for a
/// malformed executable or a missing kernel, or MemoryError, whose message states the requested
/// number of bytes.
///
/// One thread at a time may use a model, here and in all functions below; a call from another
/// thread meanwhile raises RuntimeError. `FerriteModelDuplicate` makes a model for another thread.
///
/// # Safety
/// The kernels must be functions that TVM generated for this model, with null-terminated names.
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
        let bytes =
            core::slice::from_raw_parts(start.as_ptr().cast::<u8>().cast_const(), num_bytes);
        let kernels = Kernels::linked(boundary::slice(kernels, num_kernels, arg(3, "kernels"))?);
        let executable = Executable::load(Source::Static(bytes))?;
        let model = Model::new(executable, Kind::Naive, kernels)?;
        out.write_object(Some(model));
        Ok(())
    })
}

/// Loads a library written by TVM's `export_library`, and creates a model from its executable. The
/// model runs on the CPU. A path without a folder refers to the current folder.
///
/// Only in host builds with the feature `relax`. Returns 0 and stores the model, owned by the
/// caller, in `out`. On failure, returns -1 with an error raised: InternalError for a file that
/// cannot be opened, a malformed executable, and a missing kernel; TypeError for a library without
/// a whole model; MemoryError.
///
/// # Safety
/// Loading runs the library's initialisers; its kernels must be those of the model. The library is
/// closed with the last reference to the model: objects created by its code must be released
/// before.
#[cfg(all(feature = "relax", feature = "host"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelLoad(
    path: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        crate::builtins::ensure_installed();
        let out = boundary::out(out, arg(2, "out"))?;
        let path = boundary::c_str(path, arg(1, "path"))?;
        out.write_object(Some(Model::load_from_file(parameters::path(path)?)?));
        Ok(())
    })
}

/// Creates a model from a serialised executable in memory, and a module with its kernels. The model
/// runs on the CPU.
///
/// Only in builds with the feature `relax`. The `num_bytes` bytes of `executable` are copied.
/// `kernels` is a module, such as the one that `ffi.ModuleLoadFromFile` returns for a library of
/// kernels, or null; functions that it and its imports lack are looked up among the global
/// functions. The model keeps the module.
///
/// Returns 0 and stores the model, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised: ValueError for a null pointer, InternalError for a malformed executable or a
/// missing kernel, TypeError for an object that is not a module, MemoryError.
///
/// # Safety
/// The kernels must be those of the model.
#[cfg(feature = "relax")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelLoadFromMemory(
    executable: *const c_void,
    num_bytes: usize,
    kernels: TVMFFIObjectHandle,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        crate::builtins::ensure_installed();
        let out = boundary::out(out, arg(4, "out"))?;
        let start = boundary::non_null(executable, arg(1, "executable"))?;
        let bytes =
            core::slice::from_raw_parts(start.as_ptr().cast::<u8>().cast_const(), num_bytes);
        let modules = if kernels.is_null() {
            ArrayObject::from_slice(&[])?
        } else {
            let module = boundary::object_of::<Module>(kernels, arg(3, "kernels"))?;
            ArrayObject::from_slice(&[Module::clone(&module).into()])?
        };
        out.write_object(Some(Model::from_bytes(bytes, Kernels::in_modules(modules))?));
        Ok(())
    })
}

/// Creates a model that shares the executable, the weights and the kernels of another, with a
/// separate machine, for use by another thread. May be called while another thread uses `model`.
///
/// Returns 0 and stores the new model, owned by the caller, in `out`. It lives independently of
/// `model`. On failure, returns -1 with an error raised: ValueError for a null pointer, TypeError
/// for an object that is not a model, MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelDuplicate(
    model: TVMFFIObjectHandle,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(2, "out"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        out.write_object(Some(model.duplicate()?));
        Ok(())
    })
}

/// Calls a function of a model. Arguments are given in the order of the function's parameters.
///
/// Tensors may be passed as `DLTensor` pointers. Returns 0 and stores the result, owned by the
/// caller, in `result`: a tensor, or an array of values. On failure, returns -1 with an error
/// raised: ValueError for an unknown function, an error of the model for invalid arguments, or
/// MemoryError, whose message states the requested number of bytes. The model stays usable after an
/// error.
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
        result_place.write(model.call_packed(function, args)?.into_raw());
        Ok(())
    })
}

/// Calls a function of a model. Inputs are given by name, in any order.
///
/// `names` and `values` have `num_values` entries each; a name is a null-terminated string.
/// `parameters` is a map from names to tensors, such as `FerriteModelLoadParameters` returns, or
/// null: it gives the inputs of its names that are not among `names`. All are borrowed until the
/// function returns.
///
/// Returns 0 and stores the result, owned by the caller, in `result`: a tensor, or an array of
/// values. On failure, returns -1 with an error raised: ValueError for an unknown function, an
/// unknown name and a missing input, TypeError for another map, an error of the model for invalid
/// values, MemoryError. The model stays usable after an error.
///
/// # Safety
/// Same requirements as `TVMFFIFunctionCall`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelCallNamed(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    names: *const *const c_char,
    values: *const TVMFFIAny,
    num_values: i32,
    parameters: TVMFFIObjectHandle,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let result_place = boundary::out(result, arg(7, "result"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = boundary::c_str(function, arg(2, "function"))?;
        let names = boundary::slice(names, num_values, arg(3, "names"))?;
        boundary::slice(values, num_values, arg(4, "values"))?;
        let mut inputs = Inputs::new(&model.function(function)?)?;
        if !parameters.is_null() {
            inputs.set_parameters(&parameters::borrow(parameters, arg(6, "parameters"))?)?;
        }
        for (name, value) in names.iter().zip(AnyView::slice_from_raw(values, num_values as usize))
        {
            // A DLTensor pointer outlives the inputs, which end here.
            let value = (*value).to_owned_or_pointer()?;
            inputs.set_any(boundary::c_str(*name, arg(3, "names"))?, value)?;
        }
        result_place.write(inputs.call()?.into_raw());
        Ok(())
    })
}

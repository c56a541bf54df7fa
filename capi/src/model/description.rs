//! Functions, inputs and results of a model.

use core::ffi::{c_char, c_int};

use ferrite_core::abi::{DLDataType, TVMFFIByteArray, TVMFFIObjectHandle};
use ferrite_core::{Error, plain_bail, plain_error};
use ferrite_relax::model::Model;

use crate::boundary::{self, arg};

/// Returns the number of functions that a model defines. Some may be auxiliary functions of the
/// compiler.
///
/// Returns 0 and stores the number in `count`. On failure, returns -1 with an error raised:
/// ValueError for a null pointer, TypeError for an object that is not a model.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelNumFunctions(
    model: TVMFFIObjectHandle,
    count: *mut i32,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let count = boundary::out(count, arg(2, "count"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        count.write(model.function_names().count() as i32);
        Ok(())
    })
}

/// Returns the name of a function of a model.
///
/// Returns 0 and stores the name in `name`; it is borrowed, not null-terminated, and valid as long
/// as the model lives. On failure, returns -1 with an error raised: IndexError for a number out of
/// range.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelFunctionName(
    model: TVMFFIObjectHandle,
    function: i32,
    name: *mut TVMFFIByteArray,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let out = boundary::out(name, arg(3, "name"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let index = usize::try_from(function).ok();
        let Some(text) = index.and_then(|index| model.function_names().nth(index)) else {
            plain_bail!(INDEX_ERROR, "The model has no function {}", function);
        };
        out.write(TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() });
        Ok(())
    })
}

/// Returns the number of inputs of a model's function.
///
/// Returns 0 and stores the number in `count`. On failure, returns -1 with an error raised:
/// ValueError for an unknown function.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelNumInputs(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    count: *mut i32,
) -> c_int {
    // SAFETY: as the caller guarantees.
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
/// Returns 0 and stores the name in `name`; it is borrowed, not null-terminated, and valid as long
/// as the model lives. On failure, returns -1 with an error raised: ValueError for an unknown
/// function, IndexError for an input number out of range.
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
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let out = boundary::out(name, arg(4, "name"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = boundary::c_str(function, arg(2, "function"))?;
        let mut names = model.machine().parameters(function)?;
        let Some(text) = usize::try_from(input).ok().and_then(|input| names.nth(input)) else {
            return Err(no_input(input));
        };
        out.write(TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() });
        Ok(())
    })
}

#[cold]
fn no_input(input: i32) -> Error {
    plain_error!(INDEX_ERROR, "The function has no input {}", input)
}

/// Returns the declared element type and shape of an input of a model's function. Inputs that are
/// tuples, and those of native functions (exec_mode `compiled`), declare none.
///
/// Returns 0 and stores the element type in `dtype`, with 0 bits if it is not known; the number of
/// dimensions in `ndim`, -1 if it is not known; and in `shape` the extents, at most `capacity` of
/// them, with -1 for each that may vary. `shape` may be null if `capacity` is 0. On failure,
/// returns -1 with an error raised: ValueError for an unknown function, IndexError for an input
/// number out of range.
///
/// # Safety
/// `shape` must have room for `capacity` extents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelInputType(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    input: i32,
    dtype: *mut DLDataType,
    ndim: *mut i32,
    shape: *mut i64,
    capacity: i32,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let dtype = boundary::out(dtype, arg(4, "dtype"))?;
        let ndim = boundary::out(ndim, arg(5, "ndim"))?;
        // Only checks the pointer and the capacity.
        let capacity =
            boundary::slice(shape.cast_const().cast::<u8>(), capacity, arg(6, "shape"))?.len();
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = model.function(boundary::c_str(function, arg(2, "function"))?)?;
        let found = usize::try_from(input).ok().and_then(|input| function.inputs().nth(input));
        let found = found.ok_or_else(|| no_input(input))?.tensor_type();
        for (axis, extent) in found.shape().enumerate().take(capacity) {
            shape.add(axis).write(extent.unwrap_or(-1));
        }
        ndim.write(found.ndim().map_or(-1, |ndim| ndim as i32));
        dtype.write(found.dtype().unwrap_or(DLDataType { code: 0, bits: 0, lanes: 0 }));
        Ok(())
    })
}

/// Returns the number of results of a model's function. Results have no names.
///
/// Returns 0 and stores the number in `count`: 1 for a function that returns a tensor, the length
/// of the array for a function that returns an array, -1 if it is not known before a call, as in
/// functions that are native code. On failure, returns -1 with an error raised: ValueError for an
/// unknown function.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelNumOutputs(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    count: *mut i32,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let count = boundary::out(count, arg(3, "count"))?;
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = model.function(boundary::c_str(function, arg(2, "function"))?)?;
        count.write(function.output_count().map_or(-1, |count| count as i32));
        Ok(())
    })
}

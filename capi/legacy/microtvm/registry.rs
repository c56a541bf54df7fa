//! Tables of functions in generated code.

use core::ffi::{c_char, c_int, c_void};

use super::abi::TVMValue;
use super::status::{INDEX_INVALID, INVALID_ARGUMENT, NAME_NOT_FOUND, NO_ERROR, tvm_crt_error_t};

/// A compiled function. Its resource is null.
pub(super) type PackedFunction = unsafe extern "C" fn(
    args: *mut TVMValue,
    type_codes: *mut c_int,
    num_args: c_int,
    out_ret_value: *mut TVMValue,
    out_ret_tcode: *mut c_int,
    resource_handle: *mut c_void,
) -> c_int;

/// An entry of a table.
pub type TVMBackendPackedCFunc = Option<PackedFunction>;

/// A table of functions with their names.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TVMFuncRegistry {
    /// Number of functions, in two bytes, little-endian, or in one byte (0.8); then their zero-terminated names.
    pub names: *const c_char,
    /// The functions in the order of their names.
    pub funcs: *const TVMBackendPackedCFunc,
}

impl TVMFuncRegistry {
    /// Returns the number of functions, and the first name.
    ///
    /// # Safety
    /// The table belongs to generated code, or is all zero.
    unsafe fn start(&self) -> (usize, *const u8) {
        let names = self.names.cast::<u8>();
        if names.is_null() || self.funcs.is_null() {
            return (0, names);
        }
        // SAFETY: the caller's promise: a count of one byte is followed by a name or the end of the text.
        unsafe {
            let (low, high) = (usize::from(*names), *names.add(1));
            // No name starts with a control character, and no table has 8192 functions.
            if high < b' ' { (low | usize::from(high) << 8, names.add(2)) } else { (low, names.add(1)) }
        }
    }

    /// Finds the index of a name.
    ///
    /// # Safety
    /// As [`start`](Self::start); `name` is a C string.
    unsafe fn find(&self, name: *const u8) -> Option<usize> {
        // SAFETY: the caller's promise: the table has `count` names.
        unsafe {
            let (count, mut known) = self.start();
            (0..count).find(|_| {
                let mut at = 0;
                while *known.add(at) != 0 && *known.add(at) == *name.add(at) {
                    at += 1;
                }
                let is_same = *known.add(at) == *name.add(at);
                while *known.add(at) != 0 {
                    at += 1;
                }
                known = known.add(at + 1);
                is_same
            })
        }
    }

    /// Finds the entry of a name.
    ///
    /// # Safety
    /// As [`find`](Self::find).
    pub(super) unsafe fn entry(&self, name: *const c_char) -> Option<*const TVMBackendPackedCFunc> {
        // SAFETY: the caller's promise: the table has as many functions as names.
        unsafe { self.find(name.cast()).map(|index| self.funcs.add(index)) }
    }
}

/// Finds the index of a function in a table.
///
/// Returns kTvmErrorNoError and the index in `function_index`; kTvmErrorFunctionNameNotFound; or
/// kTvmErrorFunctionCallInvalidArg for null.
///
/// # Safety
/// The table belongs to generated code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncRegistry_Lookup(
    reg: *const TVMFuncRegistry,
    name: *const c_char,
    function_index: *mut u16,
) -> tvm_crt_error_t {
    if reg.is_null() || name.is_null() || function_index.is_null() {
        return INVALID_ARGUMENT;
    }
    // SAFETY: contract of this function.
    unsafe {
        match (*reg).find(name.cast()) {
            Some(index) => {
                function_index.write(index as u16);
                NO_ERROR
            }
            None => NAME_NOT_FOUND,
        }
    }
}

/// Returns the function at an index of a table.
///
/// Returns kTvmErrorNoError and the function in `out_func`; kTvmErrorFunctionIndexInvalid; or
/// kTvmErrorFunctionCallInvalidArg for null.
///
/// # Safety
/// The table belongs to generated code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncRegistry_GetByIndex(
    reg: *const TVMFuncRegistry,
    index: u16,
    out_func: *mut TVMBackendPackedCFunc,
) -> tvm_crt_error_t {
    if reg.is_null() || out_func.is_null() {
        return INVALID_ARGUMENT;
    }
    let index = usize::from(index);
    // SAFETY: contract of this function.
    unsafe {
        if index >= (*reg).start().0 {
            return INDEX_INVALID;
        }
        out_func.write(*(*reg).funcs.add(index));
    }
    NO_ERROR
}

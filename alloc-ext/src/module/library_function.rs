//! Function object for a symbol of a library. It calls the symbol directly, and keeps the library
//! loaded.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr;

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType, type_index,
};
use ferrite_core::error::{Result, raised_error};
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::{Function, plain_error};

use super::Module;

/// Record of the function object: the cell that C code reads, the symbol, and the module that keeps
/// the symbol valid.
#[repr(C)]
struct LibraryFunction {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
    symbol: TVMFFISafeCallType,
    module: ManuallyDrop<Module>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for LibraryFunction {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and has no other reference.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<LibraryFunction>()).module) };
    }
}

/// Creates a function object that calls `symbol` and owns a reference to `module`.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// `symbol` must be a safe-call function that ignores its handle and is valid while `module` lives.
pub(super) unsafe fn create(symbol: TVMFFISafeCallType, module: Module) -> Result<Function> {
    let init = |record: *mut LibraryFunction| {
        // SAFETY: the allocation has room for the record; the header is not written.
        unsafe {
            (&raw mut (*record).cell)
                .write(TVMFFIFunctionCell { safe_call: Some(call), cpp_call: ptr::null_mut() });
            (&raw mut (*record).symbol).write(symbol);
            (&raw mut (*record).module).write(ManuallyDrop::new(module));
        }
    };
    // SAFETY: `init` fills the record, which begins like every function.
    unsafe {
        Ok(Function::from_object_unchecked(object_alloc::allocate(type_index::FUNCTION, 0, init)?))
    }
}

/// Safe-call function of these objects. Like upstream, passes a null handle to the symbol, which
/// has to check its arguments. Returns the symbol's status, or -1 with ValueError raised for a null
/// result pointer.
unsafe extern "C" fn call(
    this: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    if result.is_null() {
        raised_error::set(plain_error!(
            VALUE_ERROR,
            "The result pointer of a call must not be null"
        ));
        return -1;
    }
    // SAFETY: a safe call gets its own function object and a result cell (ABI); the symbol is valid
    // while the object is.
    unsafe {
        if (*result).type_index >= type_index::STATIC_OBJECT_BEGIN {
            return result_in_use((*result).type_index);
        }
        ((*this.cast::<LibraryFunction>()).symbol)(ptr::null_mut(), args, num_args, result)
    }
}

/// Raises InternalError for a result cell that contains an object, which would leak. Returns -1.
#[cold]
fn result_in_use(found: i32) -> c_int {
    raised_error::set(plain_error!(
        INTERNAL_ERROR,
        "Check failed: result->type_index < TypeIndex::kTVMFFIStaticObjectBegin ({} vs. {}) : ",
        found,
        type_index::STATIC_OBJECT_BEGIN
    ));
    -1
}

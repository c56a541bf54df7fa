//! The C functions of the `libtvm_ffi` that upstream's package has loaded.
//!
//! They are looked up in that library by name, so that the extension needs no library to be built
//! or
//! loaded, and a missing symbol is a reason in the report.

use core::ffi::{CStr, c_char, c_int, c_void};
use ferrite_core::abi::{
    DLManagedTensorVersioned, DLPackManagedTensorAllocator, TVMFFIAny, TVMFFIByteArray,
    TVMFFIObjectHandle, TVMFFITypeInfo,
};

macro_rules! library {
    ($($(#[$doc:meta])* $field:ident = $symbol:literal: $type:ty;)*) => {
        /// The C functions of the ABI that the extension calls.
        pub struct Library {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Library {
            /// Looks up the functions in a library that `dlopen` returned. Fails with the name of
            /// a missing one.
            ///
            /// # Safety
            /// `handle` must come from `dlopen` and stay open; the library's functions of these
            /// names must have the ABI's signatures.
            pub unsafe fn open(handle: *mut c_void) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the handle is valid, and the name ends with a zero.
                        let found = unsafe { libc::dlsym(handle, $symbol.as_ptr()) };
                        if found.is_null() {
                            return Err($symbol);
                        }
                        // SAFETY: the symbol has this type in the ABI.
                        unsafe { core::mem::transmute::<*mut c_void, $type>(found) }
                    },)*
                })
            }
        }
    };
}

/// The signature of calls, `TVMFFIFunctionCall` and `safe_call`.
pub type Call =
    unsafe extern "C" fn(TVMFFIObjectHandle, *const TVMFFIAny, i32, *mut TVMFFIAny) -> c_int;

/// The deleter of a function's context.
pub type Delete = unsafe extern "C" fn(*mut c_void);

library! {
    /// Calls a function.
    call = c"TVMFFIFunctionCall": Call;
    /// Retains an object.
    inc_ref = c"TVMFFIObjectIncRef": unsafe extern "C" fn(TVMFFIObjectHandle) -> c_int;
    /// Releases an object.
    dec_ref = c"TVMFFIObjectDecRef": unsafe extern "C" fn(TVMFFIObjectHandle) -> c_int;
    /// Takes over the raised error.
    move_raised = c"TVMFFIErrorMoveFromRaised": unsafe extern "C" fn(*mut TVMFFIObjectHandle);
    /// Makes a string.
    string = c"TVMFFIStringFromByteArray": unsafe extern "C" fn(*const TVMFFIByteArray, *mut TVMFFIAny) -> c_int;
    /// Makes bytes.
    bytes = c"TVMFFIBytesFromByteArray": unsafe extern "C" fn(*const TVMFFIByteArray, *mut TVMFFIAny) -> c_int;
    /// Looks up a global function.
    global = c"TVMFFIFunctionGetGlobal": unsafe extern "C" fn(*const TVMFFIByteArray, *mut TVMFFIObjectHandle) -> c_int;
    /// Returns the record of a type; null if there is none.
    type_info = c"TVMFFIGetTypeInfo": unsafe extern "C" fn(i32) -> *const TVMFFITypeInfo;
    /// Makes an owned value of a borrowed one.
    to_owned = c"TVMFFIAnyViewToOwnedAny": unsafe extern "C" fn(*const TVMFFIAny, *mut TVMFFIAny) -> c_int;
    /// Makes a function.
    create = c"TVMFFIFunctionCreate": unsafe extern "C" fn(*mut c_void, Call, Option<Delete>, *mut TVMFFIObjectHandle) -> c_int;
    /// Raises an error.
    set_raised = c"TVMFFIErrorSetRaised": unsafe extern "C" fn(TVMFFIObjectHandle);
    /// Raises an error made of its kind and message.
    set_raised_from = c"TVMFFIErrorSetRaisedFromCStr": unsafe extern "C" fn(*const c_char, *const c_char);
    /// Returns the calls on the stack as text.
    backtrace = c"TVMFFIBacktrace": unsafe extern "C" fn(*const c_char, c_int, *const c_char, c_int) -> *const TVMFFIByteArray;
    /// Makes a tensor of a managed tensor.
    from_dlpack = c"TVMFFITensorFromDLPackVersioned": unsafe extern "C" fn(*mut DLManagedTensorVersioned, i32, i32, *mut TVMFFIObjectHandle) -> c_int;
    /// Makes a managed tensor of a tensor.
    to_dlpack = c"TVMFFITensorToDLPackVersioned": unsafe extern "C" fn(TVMFFIObjectHandle, *mut *mut DLManagedTensorVersioned) -> c_int;
    /// Sets a device's stream, and returns the former one.
    set_stream = c"TVMFFIEnvSetStream": unsafe extern "C" fn(i32, i32, *mut c_void, *mut *mut c_void) -> c_int;
    /// Sets the allocator of tensors, and returns the former one.
    set_allocator = c"TVMFFIEnvSetDLPackManagedTensorAllocator": unsafe extern "C" fn(DLPackManagedTensorAllocator, c_int, *mut DLPackManagedTensorAllocator) -> c_int;
}

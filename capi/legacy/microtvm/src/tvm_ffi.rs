//! The symbols of tvm-ffi that this crate calls, imported from the library that it is linked into.
//! `tvm/ffi/c_api.h` documents them.
#![allow(missing_docs, reason = "the header documents these functions")]

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObjectHandle, TVMFFISafeCallType};

unsafe extern "C" {
    pub fn TVMFFIErrorMoveFromRaised(result: *mut TVMFFIObjectHandle);
    pub fn TVMFFIErrorSetRaised(error: TVMFFIObjectHandle);
    pub fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char);
    pub fn TVMFFIErrorSetRaisedFromCStrParts(
        kind: *const c_char,
        message_parts: *mut *const c_char,
        num_parts: i32,
    );
    pub fn TVMFFIFunctionCall(
        func: TVMFFIObjectHandle,
        args: *mut TVMFFIAny,
        num_args: i32,
        result: *mut TVMFFIAny,
    ) -> c_int;
    pub fn TVMFFIFunctionCreate(
        self_: *mut c_void,
        safe_call: Option<TVMFFISafeCallType>,
        deleter: Option<unsafe extern "C" fn(self_: *mut c_void)>,
        out: *mut TVMFFIObjectHandle,
    ) -> c_int;
    pub fn TVMFFIFunctionGetGlobal(
        name: *const TVMFFIByteArray,
        out: *mut TVMFFIObjectHandle,
    ) -> c_int;
    pub fn TVMFFIFunctionSetGlobal(
        name: *const TVMFFIByteArray,
        f: TVMFFIObjectHandle,
        allow_override: c_int,
    ) -> c_int;
    pub fn TVMFFIObjectDecRef(obj: TVMFFIObjectHandle) -> c_int;
}

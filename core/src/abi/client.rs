//! The C symbols of the loaded `libtvm_ffi`, imported by kernel libraries.
//!
//! Only the symbols that a kernel library uses; `tvm/ffi/c_api.h` documents them. The host loads
//! `libtvm_ffi` first, so the symbols resolve when the kernel library is opened.
#![allow(missing_docs, reason = "the header documents these functions")]

use super::*;
use core::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    pub fn TVMFFIGetCustomAllocator() -> *mut TVMFFICustomAllocator;
    pub fn TVMFFISetCustomAllocator(allocator: *mut TVMFFICustomAllocator) -> c_int;

    pub fn TVMFFIErrorMoveFromRaised(result: *mut TVMFFIObjectHandle);
    pub fn TVMFFIErrorCreate(
        kind: *const TVMFFIByteArray,
        message: *const TVMFFIByteArray,
        backtrace: *const TVMFFIByteArray,
        out: *mut TVMFFIObjectHandle,
    ) -> c_int;
    pub fn TVMFFIStringFromByteArray(input: *const TVMFFIByteArray, out: *mut TVMFFIAny) -> c_int;
    pub fn TVMFFIBytesFromByteArray(input: *const TVMFFIByteArray, out: *mut TVMFFIAny) -> c_int;

    pub fn TVMFFIErrorSetRaised(error: TVMFFIObjectHandle);
    pub fn TVMFFIBacktrace(
        filename: *const c_char,
        lineno: c_int,
        func: *const c_char,
        cross_ffi_boundary: c_int,
    ) -> *const TVMFFIByteArray;

    pub fn TVMFFIFunctionGetGlobal(
        name: *const TVMFFIByteArray,
        out: *mut TVMFFIObjectHandle,
    ) -> c_int;
    pub fn TVMFFIFunctionSetGlobal(
        name: *const TVMFFIByteArray,
        f: TVMFFIObjectHandle,
        allow_override: c_int,
    ) -> c_int;
    pub fn TVMFFIFunctionSetGlobalFromMethodInfo(
        method_info: *const TVMFFIMethodInfo,
        allow_override: c_int,
    ) -> c_int;

    pub fn TVMFFITypeKeyToIndex(type_key: *const TVMFFIByteArray, out_tindex: *mut i32) -> c_int;
    pub fn TVMFFITypeRegisterField(type_index: i32, info: *const TVMFFIFieldInfo) -> c_int;
    pub fn TVMFFITypeRegisterMethod(type_index: i32, info: *const TVMFFIMethodInfo) -> c_int;
    pub fn TVMFFITypeRegisterMetadata(
        type_index: i32,
        metadata: *const TVMFFITypeMetadata,
    ) -> c_int;
    pub fn TVMFFITypeRegisterAttr(
        type_index: i32,
        attr_name: *const TVMFFIByteArray,
        attr_value: *const TVMFFIAny,
    ) -> c_int;
    pub fn TVMFFIGetTypeAttrColumn(
        attr_name: *const TVMFFIByteArray,
    ) -> *const TVMFFITypeAttrColumn;
    pub fn TVMFFITypeGetOrAllocIndex(
        type_key: *const TVMFFIByteArray,
        static_type_index: i32,
        type_depth: i32,
        num_child_slots: i32,
        child_slots_can_overflow: i32,
        parent_type_index: i32,
    ) -> i32;
    pub fn TVMFFIGetTypeInfo(type_index: i32) -> *const TVMFFITypeInfo;

    pub fn TVMFFIHandleInitOnce(
        handle_addr: *mut *mut c_void,
        init_func: Option<unsafe extern "C" fn(result: *mut *mut c_void) -> c_int>,
    ) -> c_int;
    pub fn TVMFFIHandleDeinitOnce(
        handle_addr: *mut *mut c_void,
        deinit_func: Option<unsafe extern "C" fn(handle: *mut c_void) -> c_int>,
    ) -> c_int;

    pub fn TVMFFIEnvSetStream(
        device_type: i32,
        device_id: i32,
        stream: *mut c_void,
        opt_out_original_stream: *mut *mut c_void,
    ) -> c_int;
    pub fn TVMFFIEnvGetStream(device_type: i32, device_id: i32) -> *mut c_void;
    pub fn TVMFFIEnvSetDLPackManagedTensorAllocator(
        allocator: DLPackManagedTensorAllocator,
        write_to_global_context: c_int,
        opt_out_original_allocator: *mut DLPackManagedTensorAllocator,
    ) -> c_int;
    pub fn TVMFFIEnvGetDLPackManagedTensorAllocator() -> DLPackManagedTensorAllocator;
    pub fn TVMFFIEnvTensorAlloc(prototype: *mut DLTensor, out: *mut TVMFFIObjectHandle) -> c_int;
    pub fn TVMFFITensorToDLPackVersioned(
        tensor: TVMFFIObjectHandle,
        out: *mut *mut DLManagedTensorVersioned,
    ) -> c_int;
    pub fn TVMFFIEnvCheckSignals() -> c_int;
    pub fn TVMFFIEnvRegisterCAPI(name: *const c_char, symbol: *mut c_void) -> c_int;
}

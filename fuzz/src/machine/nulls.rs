//! Calls with null pointers, which raise a ValueError unless documented otherwise.

use core::ffi::c_int;
use std::ptr;

use ferrite_core::abi::*;

use crate::library::{Legacy, Symbols};

macro_rules! nulls {
    ($(#[$meta:meta])* $name:ident of $library:ty; $($symbol:ident($($arg:expr),*);)*) => {
        $(#[$meta])*
        pub const $name: &[(&str, fn(&$library) -> c_int)] = &[$(
            // SAFETY: every pointer is null, which the ABI allows.
            (stringify!($symbol), |symbols| unsafe { (symbols.$symbol)($($arg),*) }),
        )*];
    };
}

nulls! {
    /// Each call of the C ABI, by the name of its symbol.
    NULLS of Symbols;
    TVMFFIAnyViewToOwnedAny(ptr::null(), ptr::null_mut());
    TVMFFIBigIntFromByteArray(ptr::null(), ptr::null_mut());
    TVMFFIBytesFromByteArray(ptr::null(), ptr::null_mut());
    TVMFFIDataTypeFromString(ptr::null(), ptr::null_mut());
    TVMFFIDataTypeToString(ptr::null(), ptr::null_mut());
    TVMFFIEnvModLookupFromImports(ptr::null_mut(), ptr::null(), ptr::null_mut());
    TVMFFIEnvModRegisterContextSymbol(ptr::null(), ptr::null_mut());
    TVMFFIEnvModRegisterSystemLibSymbol(ptr::null(), ptr::null_mut());
    TVMFFIEnvRegisterCAPI(ptr::null(), ptr::null_mut());
    TVMFFIEnvTensorAlloc(ptr::null_mut(), ptr::null_mut());
    TVMFFIErrorCreate(ptr::null(), ptr::null(), ptr::null(), ptr::null_mut());
    TVMFFIErrorCreateWithCauseAndExtraContext(
        ptr::null(), ptr::null(), ptr::null(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    TVMFFIFunctionCall(ptr::null_mut(), ptr::null(), 0, ptr::null_mut());
    TVMFFIFunctionCreate(ptr::null_mut(), None, None, ptr::null_mut());
    TVMFFIFunctionGetGlobal(ptr::null(), ptr::null_mut());
    TVMFFIFunctionSetGlobal(ptr::null(), ptr::null_mut(), 0);
    TVMFFIFunctionSetGlobalFromMethodInfo(ptr::null(), 0);
    TVMFFIHandleDeinitOnce(ptr::null_mut(), None);
    TVMFFIHandleInitOnce(ptr::null_mut(), None);
    TVMFFIObjectCreateOpaque(ptr::null_mut(), kTVMFFIOpaquePyObject, None, ptr::null_mut());
    TVMFFIObjectDecRef(ptr::null_mut());
    TVMFFIObjectIncRef(ptr::null_mut());
    TVMFFIStringFromByteArray(ptr::null(), ptr::null_mut());
    TVMFFITensorCreateUnsafeView(ptr::null_mut(), ptr::null(), ptr::null_mut());
    TVMFFITensorFromDLPack(ptr::null_mut(), 0, 0, ptr::null_mut());
    TVMFFITensorFromDLPackVersioned(ptr::null_mut(), 0, 0, ptr::null_mut());
    TVMFFITensorToDLPack(ptr::null_mut(), ptr::null_mut());
    TVMFFITensorToDLPackVersioned(ptr::null_mut(), ptr::null_mut());
    TVMFFITypeKeyToIndex(ptr::null(), ptr::null_mut());
    TVMFFITypeRegisterAttr(kTVMFFIObject, ptr::null(), ptr::null());
    TVMFFITypeRegisterField(kTVMFFIObject, ptr::null());
    TVMFFITypeRegisterMetadata(kTVMFFIObject, ptr::null());
    TVMFFITypeRegisterMethod(kTVMFFIObject, ptr::null());
    TVMFFITypeGetOrAllocIndex(ptr::null(), -1, 1, 0, 0, kTVMFFIObject);
}

nulls! {
    /// Calls of the API of TVM 0.5 to 0.20, by the names of their symbols.
    LEGACY_NULLS of Legacy;
    TVMFuncCall(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), 0, ptr::null_mut(), ptr::null_mut());
    TVMFuncGetGlobal(ptr::null(), ptr::null_mut());
    TVMFuncRegisterGlobal(ptr::null(), ptr::null_mut(), 0);
    TVMFuncRemoveGlobal(ptr::null());
    TVMFuncListGlobalNames(ptr::null_mut(), ptr::null_mut());
    TVMFuncCreateFromCFunc(None, ptr::null_mut(), None, ptr::null_mut());
    TVMFuncFree(ptr::null_mut());
    TVMCFuncSetReturn(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), 1);
    TVMCbArgToReturn(ptr::null_mut(), ptr::null_mut());
    TVMArrayAlloc(ptr::null(), 1, 2, 32, 1, 1, 0, ptr::null_mut());
    TVMArrayFree(ptr::null_mut());
    TVMArrayCopyFromBytes(ptr::null_mut(), ptr::null_mut(), 1);
    TVMArrayCopyToBytes(ptr::null_mut(), ptr::null_mut(), 1);
    TVMArrayCopyFromTo(ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    TVMArrayFromDLPack(ptr::null_mut(), ptr::null_mut());
    TVMArrayToDLPack(ptr::null_mut(), ptr::null_mut());
    TVMModGetFunction(ptr::null_mut(), ptr::null(), 0, ptr::null_mut());
    TVMModImport(ptr::null_mut(), ptr::null_mut());
    TVMModLoadFromFile(ptr::null(), ptr::null(), ptr::null_mut());
    TVMModFree(ptr::null_mut());
    TVMNodeFree(ptr::null_mut());
    TVMByteArrayFree(ptr::null_mut());
    TVMExtTypeFree(ptr::null_mut(), 20);
    TVMBackendRegisterEnvCAPI(ptr::null(), ptr::null_mut());
    TVMBackendRegisterSystemLibSymbol(ptr::null(), ptr::null_mut());
    TVMObjectTypeIndex2Key(u32::MAX, ptr::null_mut());
    TVMNodeGetAttr(ptr::null_mut(), ptr::null(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
}

//! Calls with null pointers, which raise a ValueError unless documented otherwise.

use core::ffi::c_int;
use std::ptr;

use ferrite_core::abi::*;

use crate::library::Symbols;

type NullCall = fn(&Symbols) -> Option<c_int>;

macro_rules! nulls {
    ($($symbol:ident($($arg:expr),*);)*) => {
        /// Each call, by the name of its symbol. None stands for a symbol without a status.
        pub const NULLS: &[(&str, NullCall)] = &[$(
            // SAFETY: every pointer is null, which the ABI allows.
            (stringify!($symbol), |symbols| Some(unsafe { (symbols.$symbol)($($arg),*) })),
        )*];
    };
}

nulls! {
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

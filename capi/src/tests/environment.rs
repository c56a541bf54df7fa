//! The symbols of the environment with invalid arguments.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::env::*;
use crate::module::*;
use crate::tests::raises;

#[test]
fn streams() {
    let stream: *mut c_void = std::ptr::without_provenance_mut(0x10);
    let mut original = std::ptr::without_provenance_mut(1);
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIEnvSetStream(-1, 0, stream, &mut original));
        raises("ValueError", TVMFFIEnvSetStream(2, -1, stream, &mut original));
        raises("ValueError", TVMFFIEnvSetStream(2, i32::MAX, stream, &mut original));
        assert_eq!(original.addr(), 1);
        assert_eq!(TVMFFIEnvSetStream(2, 1, stream, null_mut()), 0);
        assert_eq!(TVMFFIEnvGetStream(2, 1), stream);
        assert_eq!(TVMFFIEnvSetStream(2, 1, null_mut(), &mut original), 0);
        assert_eq!(original, stream);
    }
    assert!(TVMFFIEnvGetStream(-1, i32::MIN).is_null());
}

#[test]
fn tensor_allocation() {
    let mut out = null_mut();
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIEnvTensorAlloc(null_mut(), &mut out));
        assert_eq!(TVMFFIEnvSetDLPackManagedTensorAllocator(None, 0, null_mut()), 0);
    }
    assert!(TVMFFIEnvGetDLPackManagedTensorAllocator().is_none());
    assert_eq!(TVMFFIEnvCheckSignals(), 0);
}

#[test]
fn symbols() {
    let (name, symbol) = (c"test_symbol".as_ptr(), std::ptr::without_provenance_mut(8));
    let mut out = null_mut();
    // SAFETY: non-null pointers are valid; the function checks for a null context.
    unsafe {
        raises("ValueError", TVMFFIEnvRegisterCAPI(null(), symbol));
        raises("ValueError", TVMFFIEnvRegisterCAPI(name, symbol));
        raises("ValueError", TVMFFIEnvRegisterCAPI(name, null_mut()));
        raises("ValueError", TVMFFIEnvModLookupFromImports(null_mut(), name, &mut out));
        raises("ValueError", TVMFFIEnvModRegisterContextSymbol(null(), symbol));
        raises("ValueError", TVMFFIEnvModRegisterContextSymbol(name, null_mut()));
        raises("ValueError", TVMFFIEnvModRegisterSystemLibSymbol(null(), symbol));
        raises("ValueError", TVMFFIEnvModRegisterSystemLibSymbol(name, null_mut()));
    }
    assert!(out.is_null());
}

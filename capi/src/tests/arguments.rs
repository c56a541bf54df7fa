//! Every symbol with invalid arguments: the error is raised, and no out-parameter is written.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use crate::allocator::*;
use crate::backtrace::*;
use crate::bigint::*;
use crate::dtype::*;
use crate::error::*;
use crate::function::*;
use crate::init_once::*;
use crate::object::*;
use crate::string::*;
use crate::tensor::*;
use crate::tests::raises;
use crate::type_info::*;
use ferrite_core::abi::type_index;
use ferrite_core::abi::*;
use ferrite_core::error::raised_error;
use ferrite_core::{Error, Function, Shape};

/// The value of out-parameters before a call, which must be unchanged afterwards.
const UNTOUCHED: TVMFFIObjectHandle = std::ptr::without_provenance_mut(0x5a5a);

fn bytes(text: &str) -> TVMFFIByteArray {
    TVMFFIByteArray::from_slice(text.as_bytes())
}

fn bad_bytes() -> TVMFFIByteArray {
    TVMFFIByteArray { data: null(), size: 3 }
}

unsafe extern "C" fn two(
    _: *mut c_void,
    _: *const TVMFFIAny,
    _: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller passes a valid result.
    unsafe {
        (*result).type_index = type_index::INT;
        (*result).payload.v_int64 = 2;
    }
    0
}

fn function() -> Function {
    // SAFETY: the function ignores its context.
    unsafe { Function::from_extern_c(null_mut(), two, None) }.expect("memory for a function")
}

fn shape() -> Shape {
    Shape::from_slice(&[2, 3]).expect("memory for a shape")
}

fn handle<T: ferrite_core::ObjectClass>(object: &T) -> TVMFFIObjectHandle {
    object.as_object().as_ptr().cast()
}

#[test]
fn null_objects() {
    // SAFETY: the functions check for null.
    unsafe {
        raises("ValueError", TVMFFIObjectIncRef(null_mut()));
        raises("ValueError", TVMFFIObjectDecRef(null_mut()));
        TVMFFIGetVersion(null_mut());
    }
}

#[test]
fn opaque_objects() {
    let mut out = UNTOUCHED;
    // SAFETY: the function checks for null and for other types.
    unsafe {
        let python = type_index::OPAQUE_PY_OBJECT;
        raises("ValueError", TVMFFIObjectCreateOpaque(null_mut(), python, None, null_mut()));
        raises("RuntimeError", TVMFFIObjectCreateOpaque(null_mut(), 71, None, &mut out));
        assert_eq!(out, UNTOUCHED);
    }
}

#[test]
fn calls() {
    let (function, shape) = (function(), shape());
    let mut args = [TVMFFIAny::NONE];
    let (args, mut result) = (args.as_mut_ptr(), TVMFFIAny::NONE);
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIFunctionCall(null_mut(), args, 1, &mut result));
        raises("TypeError", TVMFFIFunctionCall(handle(&shape), args, 1, &mut result));
        raises("ValueError", TVMFFIFunctionCall(handle(&function), args, -1, &mut result));
        raises("ValueError", TVMFFIFunctionCall(handle(&function), null_mut(), 1, &mut result));
        raises("ValueError", TVMFFIFunctionCall(handle(&function), args, 1, null_mut()));
        assert_eq!(result.type_index, type_index::NONE);

        for (args, count) in [(args, 1), (args, 0), (null_mut(), 0), (apart_from(&mut result), 0)] {
            assert_eq!(TVMFFIFunctionCall(handle(&function), args, count, &mut result), 0);
            assert_eq!(result.payload.v_int64, 2);
        }
    }
}

/// Returns an address without a common bit with that of `result`.
fn apart_from(result: *mut TVMFFIAny) -> *mut TVMFFIAny {
    std::ptr::without_provenance_mut(!result.addr() & !(align_of::<TVMFFIAny>() - 1))
}

#[test]
fn functions() {
    let mut out = UNTOUCHED;
    let name = bytes("test.arguments");
    let function = function();
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIFunctionCreate(null_mut(), None, None, &mut out));
        raises("ValueError", TVMFFIFunctionCreate(null_mut(), Some(two), None, null_mut()));
        raises("ValueError", TVMFFIFunctionGetGlobal(null(), &mut out));
        raises("ValueError", TVMFFIFunctionGetGlobal(&bad_bytes(), &mut out));
        raises("ValueError", TVMFFIFunctionGetGlobal(&name, null_mut()));
        raises("ValueError", TVMFFIFunctionSetGlobal(null(), handle(&function), 0));
        raises("ValueError", TVMFFIFunctionSetGlobal(&name, null_mut(), 0));
        raises("TypeError", TVMFFIFunctionSetGlobal(&name, handle(&shape()), 0));
        raises("ValueError", TVMFFIFunctionSetGlobalFromMethodInfo(null(), 0));
        assert_eq!(out, UNTOUCHED);

        assert_eq!(TVMFFIFunctionGetGlobal(&name, &mut out), 0);
        assert!(out.is_null());
        assert_eq!(TVMFFIFunctionSetGlobal(&name, handle(&function), 0), 0);
        assert_eq!(TVMFFIFunctionGetGlobal(&name, &mut out), 0);
        assert_eq!(out, handle(&function));
        assert_eq!(TVMFFIObjectDecRef(out), 0);
    }
}

#[test]
fn methods() {
    let mut info = TVMFFIMethodInfo {
        name: bytes("test.method"),
        doc: bad_bytes(),
        metadata: TVMFFIByteArray::EMPTY,
        flags: 0,
        method: TVMFFIAny::NONE,
    };
    // SAFETY: the function checks for null data and missing functions.
    unsafe {
        raises("ValueError", TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0));
        info.doc = TVMFFIByteArray::EMPTY;
        raises("TypeError", TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0));
        info.method.type_index = type_index::FUNCTION;
        assert_eq!(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), -1);
        let error = raised_error::take().expect("a null function is refused");
        assert_eq!(error.message_bytes(), b"Argument `method_info->method` must not be null");
    }
}

#[test]
fn values() {
    let mut out = TVMFFIAny { type_index: 77, ..TVMFFIAny::NONE };
    let raw_null = TVMFFIAny { type_index: type_index::RAW_STR, ..TVMFFIAny::NONE };
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIAnyViewToOwnedAny(null(), &mut out));
        raises("ValueError", TVMFFIAnyViewToOwnedAny(&TVMFFIAny::NONE, null_mut()));
        raises("ValueError", TVMFFIAnyViewToOwnedAny(&raw_null, &mut out));
        raises("ValueError", TVMFFIStringFromByteArray(null(), &mut out));
        raises("ValueError", TVMFFIStringFromByteArray(&bad_bytes(), &mut out));
        raises("ValueError", TVMFFIStringFromByteArray(&bytes("a"), null_mut()));
        raises("ValueError", TVMFFIBytesFromByteArray(null(), &mut out));
        raises("ValueError", TVMFFIBytesFromByteArray(&bytes("a"), null_mut()));
        raises("ValueError", TVMFFIBigIntFromByteArray(null(), &mut out));
        raises("ValueError", TVMFFIBigIntFromByteArray(&bytes("123"), &mut out));
        raises("ValueError", TVMFFIDataTypeToString(null(), &mut out));
        assert_eq!(out.type_index, 77);
        assert_eq!(TVMFFIBigIntGetContentByteArray(null()).size, 0);
        assert!(raised_error::take().is_some());
    }
}

#[test]
fn data_types() {
    let mut out = DLDataType { code: 9, bits: 9, lanes: 9 };
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIDataTypeFromString(null(), &mut out));
        raises("ValueError", TVMFFIDataTypeFromString(&bytes("int32"), null_mut()));
        raises("ValueError", TVMFFIDataTypeFromString(&bytes("nonsense"), &mut out));
        assert_eq!(out.code, 9);
        raises("ValueError", TVMFFIDataTypeToString(&out, null_mut()));
    }
}

#[test]
fn tensors() {
    let mut out = UNTOUCHED;
    let shape = shape();
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFITensorFromDLPack(null_mut(), 0, 0, &mut out));
        raises("ValueError", TVMFFITensorFromDLPackVersioned(null_mut(), 0, 0, &mut out));
        raises("ValueError", TVMFFITensorToDLPack(null_mut(), (&raw mut out).cast()));
        raises("TypeError", TVMFFITensorToDLPack(handle(&shape), (&raw mut out).cast()));
        raises("ValueError", TVMFFITensorToDLPackVersioned(null_mut(), (&raw mut out).cast()));
        raises("TypeError", TVMFFITensorToDLPackVersioned(handle(&shape), (&raw mut out).cast()));
        raises("TypeError", TVMFFITensorCreateUnsafeView(handle(&shape), null(), &mut out));
    }
    assert_eq!(out, UNTOUCHED);
}

#[test]
fn types() {
    let mut index = 5;
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFITypeKeyToIndex(null(), &mut index));
        raises("ValueError", TVMFFITypeKeyToIndex(&bytes("ffi.String"), null_mut()));
        raises("InternalError", TVMFFITypeKeyToIndex(&bytes("no.Such"), &mut index));
        assert_eq!(index, 5);
        assert_eq!(TVMFFITypeKeyToIndex(&bytes("ffi.String"), &mut index), 0);
        assert_eq!(index, type_index::STR);

        raises("ValueError", TVMFFITypeRegisterField(128, null()));
        raises("ValueError", TVMFFITypeRegisterMethod(128, null()));
        raises("ValueError", TVMFFITypeRegisterMetadata(128, null()));
        raises("ValueError", TVMFFITypeRegisterAttr(128, null(), &TVMFFIAny::NONE));
        raises("ValueError", TVMFFITypeRegisterAttr(128, &bytes("a"), null()));
        assert!(TVMFFIGetTypeAttrColumn(null()).is_null());
        assert!(raised_error::take().is_some());
        assert!(TVMFFIGetTypeAttrColumn(&bytes("no.such.column")).is_null());
        assert!(raised_error::take().is_none());
        raises("ValueError", TVMFFITypeGetOrAllocIndex(null(), -1, 1, 0, 1, 64));
        raises("InternalError", TVMFFITypeGetOrAllocIndex(&bytes("test.Bad"), 66, 1, 0, 1, 64));
        assert_eq!(TVMFFITypeGetOrAllocIndex(&bytes("no.Such"), -1, 1, 0, 1, -2), -2);
    }
    for unknown in [-7, 99, 1_000_000, i32::MAX, i32::MIN] {
        assert!(TVMFFIGetTypeInfo(unknown).is_null());
    }
    assert!(!TVMFFIGetTypeInfo(type_index::TENSOR).is_null());
}

#[test]
fn errors() {
    let (text, mut out) = (bytes("text"), UNTOUCHED);
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIErrorCreate(null(), &text, &text, &mut out));
        raises("ValueError", TVMFFIErrorCreate(&text, null(), &text, &mut out));
        raises("ValueError", TVMFFIErrorCreate(&text, &text, null(), &mut out));
        raises("ValueError", TVMFFIErrorCreate(&text, &text, &text, null_mut()));
        let with_cause = TVMFFIErrorCreateWithCauseAndExtraContext;
        raises(
            "TypeError",
            with_cause(&text, &text, &text, handle(&shape()), null_mut(), &mut out),
        );
        assert_eq!(out, UNTOUCHED);
        assert_eq!(with_cause(&text, &text, &text, null_mut(), handle(&shape()), &mut out), 0);
        TVMFFIErrorSetRaised(out);
        assert_eq!(TVMFFIObjectDecRef(out), 0);
        assert_eq!(raised_error::take().map(|error| error.extra_context().is_some()), Some(true));
    }
}

#[test]
fn raised_errors() {
    let parts = [c"a".as_ptr(), null(), c"b".as_ptr()];
    let parts: *mut *const c_char = parts.as_ptr().cast_mut();
    let taken = |kind: &[u8], message: &[u8]| {
        raised_error::take().is_some_and(|error: Error| {
            error.kind_bytes() == kind && error.message_bytes() == message
        })
    };
    // SAFETY: non-null pointers are valid.
    unsafe {
        TVMFFIErrorMoveFromRaised(null_mut());
        TVMFFIErrorSetRaised(null_mut());
        assert!(raised_error::take().is_none());
        TVMFFIErrorSetRaised(handle(&shape()));
        assert_eq!(
            raised_error::take().map(|error| error.kind_bytes() == b"TypeError"),
            Some(true)
        );
        TVMFFIErrorSetRaisedFromCStr(null(), null());
        assert!(taken(b"RuntimeError", b""));
        TVMFFIErrorSetRaisedFromCStrParts(c"KeyError".as_ptr(), parts, 3);
        assert!(taken(b"KeyError", b"ab"));
        TVMFFIErrorSetRaisedFromCStrParts(c"KeyError".as_ptr(), parts, -3);
        assert!(taken(b"KeyError", b""));
        TVMFFIErrorSetRaisedFromCStrParts(c"KeyError".as_ptr(), null_mut(), 3);
        assert!(taken(b"KeyError", b""));
    }
}

#[test]
fn handles_made_once() {
    unsafe extern "C" fn refuse(_: *mut *mut c_void) -> c_int {
        0
    }
    let mut slot = null_mut();
    // SAFETY: non-null pointers are valid.
    unsafe {
        raises("ValueError", TVMFFIHandleInitOnce(null_mut(), Some(refuse)));
        raises("ValueError", TVMFFIHandleInitOnce(&mut slot, None));
        raises("RuntimeError", TVMFFIHandleInitOnce(&mut slot, Some(refuse)));
        raises("ValueError", TVMFFIHandleDeinitOnce(null_mut(), None));
        raises("ValueError", TVMFFIHandleDeinitOnce(&mut slot, None));
    }
    assert!(slot.is_null());
}

#[test]
fn without_a_status() {
    let before = TVMFFIGetCustomAllocator();
    assert!(!before.is_null());
    let mut without_function = TVMFFICustomAllocator { allocate: None, context: null_mut() };
    // SAFETY: the record is refused, so it need not live.
    unsafe { raises("ValueError", TVMFFISetCustomAllocator(&mut without_function)) };
    assert_eq!(TVMFFIGetCustomAllocator(), before);
    // SAFETY: null restores the built-in allocator, and both names may be null.
    unsafe {
        assert_eq!(TVMFFISetCustomAllocator(null_mut()), 0);
        assert!(!TVMFFIBacktrace(null(), 0, null(), 0).is_null());
    }
}

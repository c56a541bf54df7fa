//! Objects of the classes that programs register: four values, an integer and a float.

use core::ffi::{c_int, c_void};
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

use ferrite_core::abi::*;

use crate::{Library, texts};

/// An object of every class of programs.
#[repr(C)]
pub struct Record {
    header: TVMFFIObject,
    values: [TVMFFIAny; 4],
    int: i64,
    float: f64,
}

/// Size of the objects in bytes.
pub const SIZE: i32 = size_of::<Record>() as i32;

/// A field that a class may have.
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub size: i64,
    pub static_type: i32,
    pub getter: TVMFFIFieldGetter,
    pub setter: TVMFFIFieldSetter,
}

const fn any(name: &'static str, number: usize) -> Field {
    Field {
        name,
        offset: size_of::<TVMFFIObject>() + number * size_of::<TVMFFIAny>(),
        size: 16,
        static_type: kTVMFFIAny,
        getter: get_any,
        setter: set_any,
    }
}

/// The fields.
pub const FIELDS: &[Field] = &[
    any("a", 0),
    any("b", 1),
    any("c", 2),
    any("a_field_with_a_long_name", 3),
    Field {
        name: "n",
        offset: std::mem::offset_of!(Record, int),
        size: 8,
        static_type: kTVMFFIInt,
        getter: get_int,
        setter: set_int,
    },
    Field {
        name: "x",
        offset: std::mem::offset_of!(Record, float),
        size: 8,
        static_type: kTVMFFIFloat,
        getter: get_float,
        setter: set_float,
    },
];

/// Functions that create objects, by class.
pub const CREATORS: &[TVMFFIObjectCreator] = &[create::<0>, create::<1>, create::<2>, create::<3>];

static LIBRARY: OnceLock<&'static Library> = OnceLock::new();
static LIVE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Sets the library that the functions of this file and of `callbacks` call.
pub fn use_library(library: &'static Library) {
    LIBRARY.get_or_init(|| library);
}

/// Returns that library.
pub fn library() -> &'static Library {
    LIBRARY.get().expect("a machine has set the library")
}

/// Returns the addresses of all objects that live.
pub fn live() -> Vec<usize> {
    LIVE.lock().expect("no thread panics with the set").iter().copied().collect()
}

/// Releases the values of an object.
pub fn clear(object: *mut c_void) {
    let record = object.cast::<Record>();
    for number in 0..4 {
        // SAFETY: the object lives; its values are replaced before they are released.
        unsafe {
            let value = (*record).values[number];
            (*record).values[number] = TVMFFIAny::NONE;
            release(&value);
        }
    }
}

/// Releases the object of a value.
pub fn release(value: &TVMFFIAny) {
    if value.type_index >= kTVMFFIStaticObjectBegin {
        // SAFETY: the value owns its object.
        unsafe { (library().symbols.TVMFFIObjectDecRef)(value.payload.v_ptr) };
    }
}

/// Retains the object of a value.
pub fn retain(value: &TVMFFIAny) {
    if value.type_index >= kTVMFFIStaticObjectBegin {
        // SAFETY: the object of the value lives.
        unsafe { (library().symbols.TVMFFIObjectIncRef)(value.payload.v_ptr) };
    }
}

/// Raises an error with a message, and returns the status of a failure.
pub fn fail(message: &std::ffi::CStr) -> c_int {
    // SAFETY: both are C strings.
    unsafe {
        (library().symbols.TVMFFIErrorSetRaisedFromCStr)(c"ValueError".as_ptr(), message.as_ptr())
    };
    -1
}

/// Returns the index of a class, or none before it is registered.
pub fn index_of(class: u8) -> Option<i32> {
    let key = TVMFFIByteArray::from_slice(texts::choose(texts::CLASSES, class).as_bytes());
    let mut index = 0;
    // SAFETY: key and index live.
    let status = unsafe { (library().symbols.TVMFFITypeKeyToIndex)(&key, &mut index) };
    if status != 0 {
        let mut error = std::ptr::null_mut();
        // SAFETY: the error is owned and released.
        unsafe {
            (library().symbols.TVMFFIErrorMoveFromRaised)(&mut error);
            (library().symbols.TVMFFIObjectDecRef)(error);
        }
        return None;
    }
    Some(index)
}

unsafe extern "C" fn create<const CLASS: u8>(result: *mut TVMFFIObjectHandle) -> c_int {
    let Some(type_index) = index_of(CLASS) else { return fail(c"the class is not registered") };
    let record = Record {
        header: TVMFFIObject {
            combined_ref_count: 0x1_0000_0001,
            type_index,
            padding: 0,
            deleter: TVMFFIObjectDeleterSlot { deleter: Some(delete) },
        },
        values: [TVMFFIAny::NONE; 4],
        int: 0,
        float: 0.0,
    };
    let object = Box::into_raw(Box::new(record)).cast::<c_void>();
    LIVE.lock().expect("no thread panics with the set").insert(object.expose_provenance());
    // SAFETY: the result is writable.
    unsafe { *result = object };
    0
}

unsafe extern "C" fn delete(object: *mut c_void, flags: c_int) {
    if flags & kTVMFFIObjectDeleterFlagBitMaskStrong != 0 {
        LIVE.lock().expect("no thread panics with the set").remove(&object.addr());
        clear(object);
    }
    if flags & kTVMFFIObjectDeleterFlagBitMaskWeak != 0 {
        // SAFETY: the object came from a box.
        drop(unsafe { Box::from_raw(object.cast::<Record>()) });
    }
}

unsafe extern "C" fn get_any(field: *mut c_void, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the field is a value of a live object.
    unsafe {
        *result = *field.cast::<TVMFFIAny>();
        retain(&*result);
    }
    0
}

unsafe extern "C" fn set_any(field: *mut c_void, value: *const TVMFFIAny) -> c_int {
    let mut new = TVMFFIAny::NONE;
    // SAFETY: the value lives, and the field is a value of a live object.
    unsafe {
        let status = (library().symbols.TVMFFIAnyViewToOwnedAny)(value, &mut new);
        if status == 0 {
            let old = field.cast::<TVMFFIAny>().replace(new);
            release(&old);
        }
        status
    }
}

unsafe extern "C" fn get_int(field: *mut c_void, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the field is an integer of a live object.
    let payload = TVMFFIAnyPayload { v_int64: unsafe { *field.cast::<i64>() } };
    // SAFETY: the result is writable.
    unsafe { *result = TVMFFIAny { type_index: kTVMFFIInt, small_str_len: 0, payload } };
    0
}

unsafe extern "C" fn set_int(field: *mut c_void, value: *const TVMFFIAny) -> c_int {
    // SAFETY: the value lives, and integers and booleans have an integer.
    unsafe {
        if !matches!((*value).type_index, kTVMFFIInt | kTVMFFIBool) {
            return fail(c"the field is an integer");
        }
        *field.cast::<i64>() = (*value).payload.v_int64;
    }
    0
}

unsafe extern "C" fn get_float(field: *mut c_void, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the field is a float of a live object.
    let payload = TVMFFIAnyPayload { v_float64: unsafe { *field.cast::<f64>() } };
    // SAFETY: the result is writable.
    unsafe { *result = TVMFFIAny { type_index: kTVMFFIFloat, small_str_len: 0, payload } };
    0
}

unsafe extern "C" fn set_float(field: *mut c_void, value: *const TVMFFIAny) -> c_int {
    // SAFETY: the value lives, and floats have a float.
    unsafe {
        if (*value).type_index != kTVMFFIFloat {
            return fail(c"the field is a float");
        }
        *field.cast::<f64>() = (*value).payload.v_float64;
    }
    0
}

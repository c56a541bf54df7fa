//! Conversion of tvm-ffi values to `TVMValue`s of the legacy API, either borrowed or with ownership
//! transferred to the caller.

use core::cell::RefCell;
use core::ffi::{c_char, c_int};
use core::ptr;

use ferrite_core::abi::{DLDataType, TVMFFIAny, TVMFFIByteArray, TVMFFIObject, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::sync::atomic::{AtomicBool, Ordering};
use ferrite_core::{Any, Tensor, plain_error};

use super::thread::{self, Slots, StringSlot, no_slots};
use super::{array, crossing, dtype};
use ferrite_core::abi::packed::TVMValue;
use ferrite_core::abi::packed::code;

/// Whether callers know the type code of booleans, which exists since 0.18. For older callers,
/// booleans are converted to integers.
static BOOLEANS_APART: AtomicBool = AtomicBool::new(false);

/// Enables the type code of booleans in later conversions. Called when a caller passes a boolean,
/// or registers a function that only 0.18 and later register.
pub fn enable_bool_type_code() {
    if !BOOLEANS_APART.load(Ordering::Relaxed) {
        BOOLEANS_APART.store(true, Ordering::Relaxed);
    }
}

/// Returns `true` if callers know the type code of booleans.
pub fn has_bool_type_code() -> bool {
    BOOLEANS_APART.load(Ordering::Relaxed)
}

fn code_of_boolean() -> c_int {
    if has_bool_type_code() { code::BOOL } else { code::INT }
}

/// Lookup table from type index to type code for values whose eight bytes are unchanged by the
/// conversion, with four bits per type index; [`NOT_PLAIN`] for other types.
const CODE_OF_INDEX: u32 = {
    let mut codes = u32::MAX;
    let plain = [
        (type_index::NONE, code::NULL),
        (type_index::INT, code::INT),
        (type_index::FLOAT, code::FLOAT),
        (type_index::OPAQUE_PTR, code::HANDLE),
        (type_index::DEVICE, code::DEVICE),
    ];
    let mut next = 0;
    while next < plain.len() {
        let (index, code) = plain[next];
        codes &= !((NOT_PLAIN & !code.cast_unsigned()) << (4 * index));
        next += 1;
    }
    codes
};
const NOT_PLAIN: u32 = 15;

/// Returns the type code for a type whose values are unchanged by the conversion; `None` for other
/// types.
#[inline(always)]
pub fn plain_type_code(type_index: i32) -> Option<c_int> {
    let index = type_index.cast_unsigned();
    let code = if index < 8 { (CODE_OF_INDEX >> (4 * index)) & NOT_PLAIN } else { NOT_PLAIN };
    (code != NOT_PLAIN).then_some(code.cast_signed())
}

/// Temporary byte-array record that refers to the inline bytes of a value.
pub type InlineByteArray = TVMFFIByteArray;

/// Returns the address of the byte array in a string or bytes object, which follows the object
/// header.
fn byte_array_of(object: *mut TVMFFIObject) -> *mut TVMFFIByteArray {
    // Only computes an address.
    object.wrapping_add(1).cast()
}

/// Converts a value to a borrowed value of the legacy API and its type code. `bytes` receives the
/// record for inline bytes.
///
/// # Errors
/// TypeError for a value that has no type code in the legacy API.
///
/// # Safety
/// `value` must be valid, and both `value` and `bytes` must live as long as the result is used.
pub unsafe fn to_tvm_value(
    value: &TVMFFIAny,
    bytes: &mut InlineByteArray,
) -> Result<(TVMValue, c_int)> {
    // SAFETY: the members of the payload are plain data, written in full; objects are alive
    // (contract of this function).
    unsafe {
        let plain = TVMValue::of_bits(value.payload.v_uint64);
        let inside: *const c_char = (&raw const value.payload).cast();
        let object = value.payload.v_obj;
        Ok(match value.type_index {
            type_index::NONE => (TVMValue::of_bits(0), code::NULL),
            type_index::INT => (plain, code::INT),
            type_index::BOOL => (plain, code_of_boolean()),
            type_index::FLOAT => (plain, code::FLOAT),
            type_index::OPAQUE_PTR => (plain, code::HANDLE),
            type_index::DEVICE => (plain, code::DEVICE),
            // Seven bytes at most, and zeros up to the eighth.
            type_index::SMALL_STR => (TVMValue::of_pointer(inside.cast_mut().cast()), code::TEXT),
            type_index::SMALL_BYTES => {
                *bytes = TVMFFIByteArray { data: inside, size: value.small_str_len as usize };
                (TVMValue::of_pointer(ptr::from_mut(bytes).cast()), code::BYTES)
            }
            type_index::STR => {
                let text = (*byte_array_of(object)).data.cast_mut();
                (TVMValue::of_pointer(text.cast()), code::TEXT)
            }
            type_index::BYTES => (TVMValue::of_pointer(byte_array_of(object).cast()), code::BYTES),
            index => show_object(index, object)?,
        })
    }
}

/// Converts an object other than a string, bytes or a tensor to a borrowed value and its type code.
///
/// # Errors
/// TypeError for a type that has no type code in the legacy API.
fn show_object(index: i32, object: *mut TVMFFIObject) -> Result<(TVMValue, c_int)> {
    let pointer = TVMValue::of_pointer(object.cast());
    match index {
        type_index::FUNCTION => Ok((pointer, code::FUNCTION)),
        type_index::MODULE => Ok((pointer, code::MODULE)),
        type_index::STATIC_OBJECT_BEGIN.. => Ok((pointer, code::OBJECT)),
        other => Err(no_code(other)),
    }
}

#[cold]
fn no_code(index: i32) -> Error {
    plain_error!(TYPE_ERROR, "A value with type index {} has no type code", index)
}

/// Transfers a result to the caller. The caller owns a reference to an object. Strings, bytes and
/// data types (as strings) are stored in a thread-local slot.
///
/// # Errors
/// TypeError for a value that has no type code or no data type in the legacy API; MemoryError.
#[inline]
pub fn transfer(value: Any) -> Result<(TVMValue, c_int)> {
    transfer_in(value, |slots| &slots.result)
}

/// Transfers a result to the caller as [`transfer`] does, with strings stored in the slot that
/// `slot` selects.
///
/// # Errors
/// The errors of [`transfer`].
#[inline]
pub fn transfer_in(
    value: Any,
    slot: fn(&Slots) -> &RefCell<StringSlot>,
) -> Result<(TVMValue, c_int)> {
    match value.type_index() {
        type_index::STR
        | type_index::SMALL_STR
        | type_index::BYTES
        | type_index::SMALL_BYTES
        | type_index::DATA_TYPE => keep(&value, slot),
        type_index::TENSOR => {
            let tensor: Tensor = value.get()?;
            drop(value);
            let array = array::into_handle(crossing::to_former(&tensor)?.unwrap_or(tensor));
            Ok((TVMValue::of_pointer(array.cast()), code::ND_ARRAY))
        }
        _ => {
            let mut unused = InlineByteArray { data: ptr::null(), size: 0 };
            // SAFETY: the value is valid; its reference is transferred.
            let shown = unsafe { to_tvm_value(value.as_raw(), &mut unused)? };
            let _ = value.into_raw();
            Ok(shown)
        }
    }
}

/// Stores a string, bytes or a data type (as a string) in a thread-local slot, and returns a
/// borrowed value of it.
///
/// # Errors
/// MemoryError; RuntimeError on a thread whose slots are destroyed.
fn keep(value: &Any, slot: fn(&Slots) -> &RefCell<StringSlot>) -> Result<(TVMValue, c_int)> {
    let of_dtype = match value.type_index() {
        type_index::DATA_TYPE => Some(dtype::name_of(value.get::<DLDataType>()?)?),
        _ => None,
    };
    let view = value.view();
    let (content, is_text) = match (&of_dtype, view.bytes_of_string(), view.bytes_of_bytes()) {
        (Some(name), ..) => (name.as_bytes(), true),
        (None, Some(text), _) => (text, true),
        (None, None, bytes) => (bytes.unwrap_or_default(), false),
    };
    let shown = thread::with(|slots| {
        let mut kept = slot(slots).borrow_mut();
        let text = kept.set(&[content])?;
        Ok(match is_text {
            true => (TVMValue::of_pointer(text.cast_mut().cast()), code::TEXT),
            false => (TVMValue::of_pointer(kept.byte_array()), code::BYTES),
        })
    });
    shown.unwrap_or_else(|| Err(no_slots()))
}

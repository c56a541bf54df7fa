//! Conversion of call arguments between the legacy API and tvm-ffi, in both directions. Converted
//! arguments are borrowed.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;

use super::crossing::Views;
use super::{array, boxed, crossing, dtype, result};
use ferrite_core::abi::packed::TVMValue;
use ferrite_core::abi::packed::code;

/// Type index for each type code whose values are converted without changing the eight bytes;
/// [`SPECIAL`] for the other codes.
static INDEX_OF_CODE: [i64; 16] = {
    let mut table = [SPECIAL; 16];
    table[code::INT as usize] = type_index::INT as i64;
    table[code::UINT as usize] = type_index::INT as i64;
    table[code::FLOAT as usize] = type_index::FLOAT as i64;
    table[code::HANDLE as usize] = type_index::OPAQUE_PTR as i64;
    table[code::DEVICE as usize] = type_index::DEVICE as i64;
    table[code::DL_TENSOR as usize] = type_index::DL_TENSOR_PTR as i64;
    table[code::RVALUE_REF as usize] = type_index::OBJECT_RVALUE_REF as i64;
    table
};
const SPECIAL: i64 = -1;

fn cell(type_index: i32, bits: u64) -> TVMFFIAny {
    TVMFFIAny { type_index, small_str_len: 0, payload: TVMFFIAnyPayload { v_uint64: bits } }
}

/// Converts an argument of the legacy API to a borrowed tvm-ffi value. `number` is its position,
/// for error messages. `views` receives the view that is passed in place of an array with another
/// data type.
///
/// # Errors
/// TypeError for an unknown type code; ValueError for a null string or null bytes; MemoryError.
///
/// # Safety
/// The value must match its type code, and `views` live as long as the result is used.
#[inline]
pub unsafe fn view(
    value: TVMValue,
    type_code: c_int,
    number: usize,
    views: &mut Views,
) -> Result<TVMFFIAny> {
    // SAFETY: all members are plain data of at most eight bytes, and the caller guarantees the
    // value.
    let bits = unsafe { value.v_bits };
    match usize::try_from(type_code).ok().and_then(|index| INDEX_OF_CODE.get(index)) {
        Some(&index) if index != SPECIAL => Ok(cell(index as i32, bits)),
        // SAFETY: the caller guarantees the value.
        _ => unsafe { view_special(value, type_code, number, views) },
    }
}

/// Slow path of [`view`], for type codes whose values need a conversion.
///
/// # Safety
/// Same requirements as [`view`].
unsafe fn view_special(
    value: TVMValue,
    type_code: c_int,
    number: usize,
    views: &mut Views,
) -> Result<TVMFFIAny> {
    // SAFETY: the caller guarantees the value.
    let (bits, pointer) = unsafe { (value.v_bits, value.v_handle) };
    match type_code {
        code::NULL => Ok(cell(type_index::NONE, 0)),
        code::DATA_TYPE => {
            let mut current = cell(type_index::DATA_TYPE, 0);
            // SAFETY: the caller guarantees a data type.
            current.payload.v_dtype = dtype::to_current(unsafe { value.v_type });
            Ok(current)
        }
        code::BOOL => {
            result::enable_bool_type_code();
            // Callers with a `bool` in their union write only one byte.
            Ok(cell(type_index::BOOL, u64::from(bits as u8 != 0)))
        }
        code::TEXT if !pointer.is_null() => Ok(cell(type_index::RAW_STR, bits)),
        code::BYTES if !pointer.is_null() => Ok(cell(type_index::BYTE_ARRAY_PTR, bits)),
        // SAFETY: the caller guarantees the object.
        code::OBJECT | code::MODULE | code::FUNCTION => Ok(unsafe { view_object(pointer.cast()) }),
        // SAFETY: the caller guarantees a live array.
        code::ND_ARRAY => unsafe {
            Ok(view_object(views.current(crossing::object_of(pointer.cast()))?))
        },
        _ => Err(bad_argument(type_code, number)),
    }
}

/// Converts an object to a borrowed tvm-ffi value. Null becomes None, and a `runtime.String` its
/// string.
///
/// # Safety
/// `object` must be null or a live object.
unsafe fn view_object(object: *mut TVMFFIObject) -> TVMFFIAny {
    match NonNull::new(object) {
        None => cell(type_index::NONE, 0),
        // SAFETY: the caller guarantees the object; a boxed text is passed as its text.
        Some(object) if boxed::STRING.is_class_of(unsafe { as_reference(&object) }) => unsafe {
            *(*boxed::value_of(object.as_ptr())).as_raw()
        },
        Some(object) => TVMFFIAny {
            // SAFETY: as above.
            type_index: unsafe { (*object.as_ptr()).type_index },
            small_str_len: 0,
            payload: TVMFFIAnyPayload { v_obj: object.as_ptr() },
        },
    }
}

/// Reinterprets an object pointer as an object reference, without retaining the object.
///
/// # Safety
/// The object must be alive while the reference is used.
unsafe fn as_reference(object: &NonNull<TVMFFIObject>) -> &ObjectRef {
    // SAFETY: a reference is a transparent newtype over the pointer.
    unsafe { &*ptr::from_ref(object).cast() }
}

#[cold]
fn bad_argument(type_code: c_int, number: usize) -> Error {
    match type_code {
        code::TEXT | code::BYTES => {
            plain_error!(VALUE_ERROR, "Argument {} is a null text or null bytes", number)
        }
        _ => {
            plain_error!(TYPE_ERROR, "Argument {} has the unknown type code {}", number, type_code)
        }
    }
}

/// Fast path that converts arguments whose eight bytes are unchanged. Returns `false` at the first
/// argument that needs another conversion.
///
/// # Safety
/// `values` and `codes` must have `count` elements, and `cells` must have at least as many.
#[inline(always)]
pub unsafe fn write_plain(
    values: *const TVMValue,
    codes: *const c_int,
    cells: &mut [MaybeUninit<TVMFFIAny>],
    count: usize,
) -> bool {
    // Opaque, or the compiler tests codes against a mask before it looks them up.
    let table = core::hint::black_box(&INDEX_OF_CODE);
    for place in 0..count {
        // SAFETY: the caller guarantees both arrays; all members of a value are plain data of at
        // most eight bytes.
        let (bits, code) = unsafe { ((*values.add(place)).v_bits, *codes.add(place) as usize) };
        let index = if code < table.len() { table[code] } else { SPECIAL };
        if index < 0 {
            return false;
        }
        // SAFETY: the caller guarantees the number of cells.
        unsafe { cells.get_unchecked_mut(place) }.write(cell(index as i32, bits));
    }
    true
}

/// Converts an argument of a tvm-ffi call to a borrowed value of the legacy API. `text` receives
/// the byte-array record for bytes that are inline in the argument, and `views` the view that is
/// passed in place of a tensor with another data type.
///
/// # Errors
/// TypeError for a value that has no type code or no data type in the legacy API; MemoryError.
///
/// # Safety
/// The cell must be a valid argument, and `views` live, for as long as the value is used.
pub unsafe fn to_tvm_value(
    argument: &TVMFFIAny,
    text: &mut result::InlineByteArray,
    views: &mut Views,
) -> Result<(TVMValue, c_int)> {
    // SAFETY: the caller guarantees the cell.
    unsafe {
        match argument.type_index {
            type_index::DATA_TYPE => {
                let mut former = TVMValue::of_bits(0);
                former.v_type = dtype::to_former(argument.payload.v_dtype);
                Ok((former, code::DATA_TYPE))
            }
            type_index::TENSOR => {
                let array = array::handle_of(views.former(argument.payload.v_obj)?);
                Ok((TVMValue::of_pointer(array.cast()), code::ND_ARRAY))
            }
            type_index::DL_TENSOR_PTR => Ok((plain(argument), code::DL_TENSOR)),
            type_index::OBJECT_RVALUE_REF => Ok((plain(argument), code::RVALUE_REF)),
            type_index::RAW_STR if !argument.payload.v_ptr.is_null() => {
                Ok((plain(argument), code::TEXT))
            }
            type_index::BYTE_ARRAY_PTR if !argument.payload.v_ptr.is_null() => {
                Ok((plain(argument), code::BYTES))
            }
            _ => result::to_tvm_value(argument, text),
        }
    }
}

fn plain(argument: &TVMFFIAny) -> TVMValue {
    // SAFETY: all members of the payload are plain data, written in full.
    TVMValue::of_bits(unsafe { argument.payload.v_uint64 })
}

/// Moves the object out of an rvalue reference, which points to an object handle. Returns `None` if
/// the object was moved before.
///
/// # Safety
/// `slot` must be null or point to an object handle whose reference the caller transfers.
pub unsafe fn take_rvalue(slot: *mut c_void) -> Option<NonNull<TVMFFIObject>> {
    // SAFETY: the caller guarantees the slot.
    let slot = unsafe { slot.cast::<*mut TVMFFIObject>().as_mut() }?;
    NonNull::new(core::mem::replace(slot, ptr::null_mut()))
}

//! Memory representation of fields that clients define at run time, and their getters and setters
//! by type index.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{
    DLDataType, DLDevice, TVMFFIAny, TVMFFIFieldGetter, TVMFFIFieldInfo, type_index,
};
use ferrite_core::call::function::checked;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{FromAny, OpaquePtr};
use ferrite_core::{Function, plain_bail, plain_ensure};

use super::field;

/// Client function that converts a value for a field, given its context, the value and a result
/// cell. Returns 0, or -1 with an error raised.
type Converter = unsafe extern "C" fn(*mut c_void, *const TVMFFIAny, *mut TVMFFIAny) -> c_int;

/// Memory representation of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Plain bytes, which own nothing.
    Plain,
    /// An owned [`Any`].
    Any,
    /// A nullable owned reference to an object.
    Object,
}

impl Storage {
    /// Returns the representation of a registered field. C++ code may register type index ANY not
    /// only for values, but also for object references and for types outside of the ABI. The size
    /// of the field distinguishes them.
    pub(super) fn of(info: &TVMFFIFieldInfo) -> Storage {
        const REFERENCE: i64 = size_of::<*const c_void>() as i64;
        const CELL: i64 = size_of::<TVMFFIAny>() as i64;
        match (info.field_static_type_index, info.size) {
            (type_index::ANY | type_index::STATIC_OBJECT_BEGIN.., REFERENCE) => Storage::Object,
            (type_index::ANY, CELL) => Storage::Any,
            _ => Storage::Plain,
        }
    }
}

/// Implements `ffi.MakeFieldGetter`: returns the address of the getter for fields of a type index.
///
/// # Errors
/// ValueError for an unsupported type index.
pub(super) fn make_getter(type_index: i32) -> Result<i64> {
    let getter: TVMFFIFieldGetter = match type_index {
        type_index::INT => field::get::<i64>,
        type_index::BOOL => get_bool,
        type_index::FLOAT => field::get::<f64>,
        type_index::OPAQUE_PTR => field::get::<OpaquePtr>,
        type_index::DATA_TYPE => field::get::<DLDataType>,
        type_index::DEVICE => field::get::<DLDevice>,
        type_index::ANY | type_index::NONE => field::get::<Any>,
        type_index::STATIC_OBJECT_BEGIN.. => field::get::<Option<ObjectRef>>,
        other => plain_bail!(VALUE_ERROR, "Unsupported field type index for getter: {}", other),
    };
    Ok(getter as usize as i64)
}

/// Implements `ffi.MakeFieldSetter`: creates a setter, a function that takes a field address and a
/// value, converts the value with the client's `convert` function, and stores it.
///
/// # Errors
/// ValueError for a null `convert` function; MemoryError.
pub(super) fn make_setter(type_index: i32, context: i64, convert: i64) -> Result<Function> {
    plain_ensure!(
        convert != 0,
        VALUE_ERROR,
        "The convert function of a field setter must not be null"
    );
    let (context, convert) = (context as usize, convert as usize);
    Function::from_packed(move |args| {
        let [address, value] = args else {
            plain_bail!(TYPE_ERROR, "A field setter takes 2 arguments, got {}", args.len());
        };
        let address = address.get::<*mut c_void>()?;
        plain_ensure!(!address.is_null(), VALUE_ERROR, "The address of a field must not be null");
        let mut converted = *AnyView::NONE.as_raw();
        // SAFETY: the caller of `ffi.MakeFieldSetter` guarantees function and context for the life
        // of the setter.
        checked(|| unsafe {
            let convert = core::mem::transmute::<*mut c_void, Converter>(convert as *mut c_void);
            convert(context as *mut c_void, value.as_raw(), &mut converted)
        })?;
        // SAFETY: a successful conversion leaves an owned value; the caller passes the address of a
        // field with the storage of the setter.
        unsafe { store(address, type_index, Any::from_result(converted)?).map(|()| Any::NONE) }
    })
}

/// Stores a converted value in a field. Raises TypeError for a value of the wrong type, ValueError
/// for an unsupported type index.
///
/// # Safety
/// `field` must be the address of a field with the representation for `type_index`, which no other
/// thread uses.
unsafe fn store(field: *mut c_void, type_index: i32, value: Any) -> Result<()> {
    // SAFETY: the caller guarantees the storage, in every arm.
    unsafe {
        match type_index {
            type_index::INT => put::<i64>(field, &value),
            type_index::BOOL => {
                value.get::<bool>().map(|value| field.cast::<u8>().write(u8::from(value)))
            }
            type_index::FLOAT => put::<f64>(field, &value),
            type_index::OPAQUE_PTR => put::<OpaquePtr>(field, &value),
            type_index::DATA_TYPE => put::<DLDataType>(field, &value),
            type_index::DEVICE => put::<DLDevice>(field, &value),
            type_index::ANY | type_index::NONE => {
                drop(field.cast::<Any>().replace(value));
                Ok(())
            }
            type_index::STATIC_OBJECT_BEGIN.. => put::<Option<ObjectRef>>(field, &value),
            other => plain_bail!(VALUE_ERROR, "Unsupported field type index for setter: {}", other),
        }
    }
}

/// Converts a value to `T` and replaces the value of a field. Raises TypeError if the conversion is
/// not possible.
///
/// # Safety
/// `field` must be the address of a `T` that no other thread uses.
unsafe fn put<T: FromAny>(field: *mut c_void, value: &Any) -> Result<()> {
    let value = value.get::<T>()?;
    // SAFETY: the caller guarantees the field; its old value is dropped once.
    drop(unsafe { field.cast::<T>().replace(value) });
    Ok(())
}

/// Field getter for a bool. Reads any byte other than 0 as `true`, since C code may have stored it.
/// Returns 0.
///
/// # Safety
/// `field` must be the address of a bool in a live object, and `result` valid for writing.
unsafe extern "C" fn get_bool(field: *mut c_void, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the caller guarantees both.
    unsafe { result.write(Any::from(field.cast::<u8>().read() != 0).into_raw()) };
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn as_is(
        _: *mut c_void,
        value: *const TVMFFIAny,
        result: *mut TVMFFIAny,
    ) -> c_int {
        // SAFETY: the setter passes a live value and a result cell.
        unsafe { result.write(AnyView::from_raw(value.read()).to_owned().unwrap().into_raw()) };
        0
    }

    fn round_trip<T>(type_index: i32, mut field: T, value: Any) -> Result<Any> {
        let address: *mut c_void = (&raw mut field).cast();
        // SAFETY: the field has the type that the setter is for.
        let place = unsafe { OpaquePtr::new(address) };
        let setter = make_setter(type_index, 0, as_is as *const () as usize as i64)?;
        setter.call_packed(&[(&place).into(), value.view()])?;
        let getter = make_getter(type_index)? as usize as *const c_void;
        let mut result = *AnyView::NONE.as_raw();
        // SAFETY: the address is that of a getter, and the field has its storage.
        unsafe {
            let getter = core::mem::transmute::<*const c_void, TVMFFIFieldGetter>(getter);
            assert_eq!(getter(address, &mut result), 0);
            Ok(Any::from_raw(result))
        }
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "the addresses pass through integers, as the ABI of these functions has it"
    )]
    fn values_are_stored_by_type() -> Result<()> {
        assert_eq!(round_trip(type_index::INT, 0i64, Any::from(-7i64))?.get::<i64>()?, -7);
        assert!(round_trip(type_index::BOOL, 0u8, Any::from(true))?.get::<bool>()?);
        assert_eq!(round_trip(type_index::FLOAT, 0f64, Any::from(2i64))?.get::<f64>()?, 2.0);
        assert_eq!(round_trip(type_index::ANY, Any::NONE, Any::from(1.5f64))?.get::<f64>()?, 1.5);
        assert!(round_trip(type_index::OBJECT, None::<ObjectRef>, Any::NONE)?.is_none());
        let function = Function::from_packed(|_| Ok(Any::NONE))?;
        let stored = round_trip(type_index::FUNCTION, None::<ObjectRef>, Any::new(function))?;
        assert_eq!(stored.type_index(), type_index::FUNCTION);
        Ok(())
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "the addresses pass through integers, as the ABI of these functions has it"
    )]
    fn other_types_are_refused() {
        assert_eq!(make_getter(type_index::RAW_STR).unwrap_err().kind_bytes(), b"ValueError");
        let error = round_trip(type_index::INT, 0i64, Any::from(1.5f64)).unwrap_err();
        assert_eq!(error.message_bytes(), b"Cannot convert from type `float` to `int`");
    }
}

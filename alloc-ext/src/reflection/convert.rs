//! Type attribute `__ffi_convert__` of built-in types: converts a value to the type of the field
//! that it is stored in.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::{Result, kind};
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Bytes, Error, Function, Shape, String, Tensor};

use super::class::{Attr, attr};
use crate::containers::{Array, Dict, List, Map};

/// Conversions of the built-in types that are not described by a [`Class`](super::class::Class).
static CONVERSIONS: &[(i32, Attr)] = &[
    (type_index::OBJECT, attr!("ffi.Object", "__ffi_convert__", convert_nullable::<ObjectRef>)),
    (type_index::STR, attr!("ffi.String", "__ffi_convert__", convert::<String>)),
    (type_index::BYTES, attr!("ffi.Bytes", "__ffi_convert__", convert::<Bytes>)),
    (type_index::ERROR, attr!("ffi.Error", "__ffi_convert__", convert::<Error>)),
    (type_index::FUNCTION, attr!("ffi.Function", "__ffi_convert__", convert_nullable::<Function>)),
    (type_index::SHAPE, attr!("ffi.Shape", "__ffi_convert__", convert::<Shape>)),
    (type_index::TENSOR, attr!("ffi.Tensor", "__ffi_convert__", convert_nullable::<Tensor>)),
    (type_index::ARRAY, attr!("ffi.Array", "__ffi_convert__", convert::<Array<Any>>)),
    (type_index::MAP, attr!("ffi.Map", "__ffi_convert__", convert::<Map<Any, Any>>)),
    (type_index::LIST, attr!("ffi.List", "__ffi_convert__", convert::<List<Any>>)),
    (type_index::DICT, attr!("ffi.Dict", "__ffi_convert__", convert::<Dict<Any, Any>>)),
];

/// Registers the conversions of built-in types, unless they are registered already.
///
/// # Errors
/// MemoryError.
pub(super) fn register() -> Result<()> {
    for (type_index, attr) in CONVERSIONS {
        attr.register_once(*type_index)?;
    }
    Ok(())
}

/// Converts a value to `T`.
///
/// # Errors
/// TypeError if the conversion is not possible.
///
/// # Upstream
/// `FFIConvertFromAnyViewToObjectRef` in `reflection/creator.h`.
pub(super) fn convert<T: AnyCompatible>(value: Any) -> Result<T> {
    match value.try_get::<T>()? {
        Some(value) => Ok(value),
        None => Err(Error::from_parts(ferrite_core::__error_site!(), kind::TYPE_ERROR, &|out| {
            out.put(b"Cannot cast from `");
            out.put_lossy(type_table::type_key_of(value.type_index()));
            out.put(b"` to `");
            T::TEXT.write_name(out);
            out.put(b"`");
        })),
    }
}

/// Converts a value to `T` like [`convert`], or None to `None`. For types whose references may be
/// null upstream.
fn convert_nullable<T: AnyCompatible>(value: Any) -> Result<Option<T>> {
    if value.is_none() { Ok(None) } else { convert(value).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::AnyView;

    #[test]
    fn a_conversion_copies_what_it_must() -> Result<()> {
        let list = List::<Any>::from_slice(&[Any::from(1i64)])?;
        assert_eq!(convert::<Array<Any>>(Any::new(list))?.len(), 1);
        let error = convert::<Array<Any>>(Any::from(1i64)).map(|_| ()).unwrap_err();
        assert_eq!(error.message_bytes(), b"Cannot cast from `int` to `Array<Any>`");
        Ok(())
    }

    #[test]
    fn objects_functions_and_tensors_may_be_none() -> Result<()> {
        register()?;
        for (type_index, _) in CONVERSIONS {
            let conversion = type_table::attr(*type_index, b"__ffi_convert__");
            let converted = conversion.get::<Function>()?.call_packed(&[AnyView::NONE]);
            let is_nullable = matches!(
                *type_index,
                type_index::OBJECT | type_index::FUNCTION | type_index::TENSOR
            );
            assert_eq!(converted.is_ok_and(|value| value.is_none()), is_nullable, "{type_index}");
        }
        Ok(())
    }
}

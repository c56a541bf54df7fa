//! Arguments for the types of a signature.

use ferrite::abi::{DLDataType, DLDevice};
use ferrite::{Any, Array, Map, Shape, Tensor};

use crate::signature::{Signature, Type};

/// Returns an argument for each parameter; `None` if the signature has types for which there is no
/// sample.
///
/// # Errors
/// MemoryError.
pub fn arguments(signature: &Signature) -> ferrite::Result<Option<Vec<Any>>> {
    let Some(parameters) = &signature.parameters else { return Ok(None) };
    let mut arguments = Vec::new();
    for parameter in parameters {
        match of_type(parameter)? {
            Some(argument) => arguments.push(argument),
            None => return Ok(None),
        }
    }
    Ok(Some(arguments))
}

fn of_type(wanted: &Type) -> ferrite::Result<Option<Any>> {
    let name = wanted.name.strip_prefix("ffi.").unwrap_or(&wanted.name);
    Ok(Some(match name {
        "int" | "Any" => Any::new(1i64),
        "float" => Any::new(1.5f64),
        "bool" => Any::new(true),
        "None" => Any::NONE,
        // Longer than a small string, so that it has a count.
        "str" | "String" => Any::new(ferrite::String::new("a text with a count")?),
        "bytes" | "Bytes" => Any::new(ferrite::Bytes::new(b"bytes with a count")?),
        "Tensor" | "DLTensor*" => Any::new(Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[4])?),
        "Shape" => Any::new(Shape::from_slice(&[2, 2])?),
        "DataType" | "dtype" => Any::new(DLDataType::parse(b"float32")?),
        "Device" => Any::new(DLDevice { device_type: 1, device_id: 0 }),
        "Array" if wanted.arguments.is_empty() => Any::new(Array::from_slice(&[1i64, 2])?),
        "Array" => Any::new(Array::<i64>::new()?),
        "Map" => Any::new(Map::<i64, i64>::new()?),
        "Optional" => Any::NONE,
        _ => return Ok(None),
    }))
}

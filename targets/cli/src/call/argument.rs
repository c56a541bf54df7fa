//! Parser of the arguments of functions on the command line.

use ferrite::abi::DLDataType;
use ferrite::{Any, Array, Shape, Tensor};
use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::signature::Type;

use super::{npy, tensor};

/// An argument of the call.
pub struct Argument {
    /// Value.
    pub value: Any,
    /// Whether the argument is a new tensor, for results.
    pub is_output: bool,
}

/// Parses an argument. `expected` is the type in the signature, if there is one.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for malformed text.
pub fn parse(text: &str, expected: Option<&Type>) -> Outcome<Argument> {
    let input = |value: Any| Argument { value, is_output: false };
    if let Some(file) = text.strip_prefix('@') {
        return npy::read(file.as_ref()).map(|tensor| input(Any::new(tensor)));
    }
    if let Some((dtype, shape)) = new_tensor(text) {
        let tensor = Tensor::empty(&shape?, dtype, tensor::MAIN_MEMORY)?;
        return Ok(Argument { value: Any::new(tensor), is_output: true });
    }
    if let Some((dtype, rest)) = prefixed(text) {
        if let Some(file) = rest.strip_prefix('@') {
            return npy::read_as(file.as_ref(), dtype).map(|tensor| input(Any::new(tensor)));
        }
        return tensor::from_json(&json(rest)?, dtype).map(|tensor| input(Any::new(tensor)));
    }
    if let Some(rest) = text.strip_prefix("array:") {
        return array(&json(rest)?).map(input);
    }
    if let Some(rest) = text.strip_prefix("shape:") {
        return shape(&json(rest)?).map(input);
    }
    plain(&json(text)?, expected).map(input)
}

/// Parses `float32[2,3]`; `None` for other forms.
fn new_tensor(text: &str) -> Option<(DLDataType, Outcome<Vec<i64>>)> {
    let (name, rest) = text.split_once('[')?;
    if name.is_empty() {
        return None;
    }
    let dtype = tensor::parse_name(name)?;
    let extents = rest.strip_suffix(']')?;
    let extent = |text: &str| {
        text.trim().parse().map_err(|_| Failure::usage(format!("`{text}` is not an extent")))
    };
    let extents = extents.split(',').filter(|text| !text.trim().is_empty()).map(extent);
    Some((dtype, extents.collect()))
}

/// Parses `float32:JSON`; `None` without a type prefix.
fn prefixed(text: &str) -> Option<(DLDataType, &str)> {
    let (name, rest) = text.split_once(':')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let dtype = if is_name { tensor::parse_name(name)? } else { return None };
    Some((dtype, rest))
}

fn json(text: &str) -> Outcome<Value> {
    serde_json::from_str(text).map_err(|error| {
        let hint = "write texts with quotes, as in '\"text\"', and tensors of a file as @file.npy";
        Failure::usage(format!("this is not JSON ({error}); {hint}"))
    })
}

/// Converts JSON without a prefix: lists of numbers are tensors unless the signature declares
/// another type.
fn plain(value: &Value, expected: Option<&Type>) -> Outcome<Any> {
    let expected = expected.map_or("", |expected| expected.name.as_str());
    match (value, expected) {
        (Value::Array(_), "ffi.Shape" | "Shape") => shape(value),
        (
            Value::Array(_),
            "ffi.Array" | "Array" | "tuple" | "Tuple" | "list" | "ffi.List" | "List",
        ) => array(value),
        (Value::Array(_), _) if tensor::is_numeric(value) => {
            Ok(Any::new(tensor::from_json(value, tensor::FLOAT32)?))
        }
        _ => array(value),
    }
}

/// Converts JSON as the library's own parser does.
fn array(value: &Value) -> Outcome<Any> {
    Ok(ferrite::json::parse(value.to_string().as_bytes())?)
}

fn shape(value: &Value) -> Outcome<Any> {
    let extents: Array<i64> = array(value)?.get()?;
    let extents = extents.iter().collect::<ferrite::Result<Vec<_>>>()?;
    Ok(Any::new(Shape::from_slice(&extents)?))
}

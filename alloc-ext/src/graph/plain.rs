//! Encoding and decoding of built-in values without children.
#![forbid(unsafe_code)]

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::plain_ensure;
use ferrite_core::value::any::Any;
use ferrite_core::value::dtype;
use ferrite_core::value::shape::Shape;
use ferrite_core::value::string::Bytes;

use super::node::{Data, Nodes};
use super::source::Json;
use crate::base64;
use crate::containers::Array;

/// Pushes the node of a built-in value without children. Returns `false` for other values.
///
/// # Errors
/// ValueError for a dtype that has no name; MemoryError.
pub(super) fn encode(value: &Any, nodes: &mut dyn Nodes) -> Result<bool> {
    let view = value.view();
    // Small strings and bytes get the type keys of their heap forms.
    let (index, data) = match value.type_index() {
        index @ type_index::NONE => (index, Data::Absent),
        index @ (type_index::BOOL | type_index::INT | type_index::FLOAT) => {
            (index, Data::Value(value))
        }
        type_index::STR | type_index::SMALL_STR => (type_index::STR, Data::Value(value)),
        type_index::BYTES | type_index::SMALL_BYTES => {
            let text = Any::new(base64::encode(view.bytes_of_bytes().unwrap_or_default())?);
            return push(nodes, type_index::BYTES, Data::Value(&text));
        }
        index @ type_index::DATA_TYPE => {
            let text = dtype_text(value)?;
            return push(nodes, index, Data::Value(&text));
        }
        index @ type_index::DEVICE => {
            let device: DLDevice = value.get()?;
            let parts = [i64::from(device.device_type), i64::from(device.device_id)];
            return push(nodes, index, Data::Integers(&parts));
        }
        index @ type_index::SHAPE => {
            return push(nodes, index, Data::Integers(value.get::<Shape>()?.as_slice()));
        }
        _ => return Ok(false),
    };
    push(nodes, index, data)
}

fn push(nodes: &mut dyn Nodes, index: i32, data: Data<'_>) -> Result<bool> {
    nodes.push(type_table::type_key_of(index), data).map(|()| true)
}

/// Returns a dtype as a string.
///
/// # Errors
/// TypeError if the value is not a dtype; ValueError for a dtype that has no name; MemoryError.
pub(super) fn dtype_text(value: &Any) -> Result<Any> {
    dtype::to_string(value.get()?).map(Any::new)
}

/// Returns `true` for the built-in types whose values have data but no children.
pub(super) fn is_plain(index: i32) -> bool {
    matches!(
        index,
        type_index::BOOL
            | type_index::INT
            | type_index::FLOAT
            | type_index::STR
            | type_index::BYTES
            | type_index::DATA_TYPE
            | type_index::DEVICE
            | type_index::SHAPE
    )
}

/// Decodes a value of a type for which [`is_plain`] returns `true`.
///
/// # Errors
/// TypeError for data of the wrong type; ValueError or InternalError for an invalid base64 string,
/// dtype or device; MemoryError.
pub(super) fn decode(index: i32, data: Json<'_>) -> Result<Any> {
    Ok(match index {
        type_index::INT => Any::from(data.into_int()?),
        type_index::STR => Any::new(data.into_string()?),
        type_index::BYTES => Any::new::<Bytes>(data.with_string(base64::decode)?),
        type_index::DATA_TYPE => Any::new(data.with_string(DLDataType::parse)?),
        type_index::BOOL => Any::from(data.into_any()?.get::<bool>()?),
        type_index::FLOAT => Any::from(data.into_any()?.get::<f64>()?),
        type_index::DEVICE => device_of(&data.into_any()?.get()?)?,
        _ => Any::new(Shape::try_from_iter(data.into_any()?.get::<Array<i64>>()?.iter())?),
    })
}

fn device_of(parts: &Array<i64>) -> Result<Any> {
    plain_ensure!(
        parts.len() == 2,
        VALUE_ERROR,
        "Invalid JSON Object Graph: Device data must be an array of [device_type, device_id], got {} element(s)",
        parts.len()
    );
    // The upper halves are dropped, as upstream does.
    let word = |index| parts.get(index).map(|number| number as i32);
    Ok(Any::new(DLDevice { device_type: word(0)?, device_id: word(1)? }))
}

//! Values without children: their data, both ways.
#![forbid(unsafe_code)]

use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::shape::Shape;
use ferrite_core::string::{Bytes, String};
use ferrite_core::{dtype, plain_ensure, type_index, type_table};

use super::node::{Data, Nodes};
use crate::base64;
use crate::containers::Array;

/// Writes the node of a value of a built-in type without children; answers false for any other.
///
/// # Errors
///
/// ValueError for a dtype without text; MemoryError.
pub(super) fn encode(value: &Any, nodes: &mut dyn Nodes) -> Result<bool> {
    let view = value.view();
    // Short texts are stored as what they are.
    let (index, data) = match value.type_index() {
        index @ type_index::NONE => (index, Data::Absent),
        index @ (type_index::BOOL | type_index::INT | type_index::FLOAT) => (index, Data::Value(value)),
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

/// The text of a dtype.
///
/// # Errors
///
/// TypeError for another value; ValueError for a dtype without text; MemoryError.
pub(super) fn dtype_text(value: &Any) -> Result<Any> {
    dtype::to_string(value.get()?).map(Any::new)
}

/// The value that a text of a dtype stands for.
///
/// # Errors
///
/// TypeError when it is no text; ValueError when it names no dtype.
pub(super) fn dtype_of(data: &Any) -> Result<Any> {
    DLDataType::parse(data.get::<String>()?.as_bytes()).map(Any::new)
}

/// The value of a built-in type that has data, but no children; None for any other type.
///
/// # Errors
///
/// TypeError for data of another type; ValueError or InternalError for bad texts and devices; MemoryError.
pub(super) fn decode(index: i32, data: &Any) -> Result<Option<Any>> {
    Ok(Some(match index {
        type_index::BOOL => Any::from(data.get::<bool>()?),
        type_index::INT => Any::from(data.get::<i64>()?),
        type_index::FLOAT => Any::from(data.get::<f64>()?),
        type_index::STR => Any::new(data.get::<String>()?),
        type_index::BYTES => Any::new::<Bytes>(base64::decode(data.get::<String>()?.as_bytes())?),
        type_index::DATA_TYPE => dtype_of(data)?,
        type_index::DEVICE => device_of(&data.get()?)?,
        type_index::SHAPE => Any::new(Shape::try_from_iter(data.get::<Array<i64>>()?.iter())?),
        _ => return Ok(None),
    }))
}

fn device_of(parts: &Array<i32>) -> Result<Any> {
    plain_ensure!(
        parts.len() == 2,
        VALUE_ERROR,
        "Invalid JSON Object Graph: Device data must be an array of [device_type, device_id], got {} element(s)",
        parts.len()
    );
    Ok(Any::new(DLDevice { device_type: parts.get(0)?, device_id: parts.get(1)? }))
}

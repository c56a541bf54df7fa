//! Results of remote calls as values of this process.
#![forbid(unsafe_code)]

use std::sync::Arc;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, String};

use super::decode::Value;
use super::session::Connected;
use super::{errors, function, module, object, tensor};

/// Converts the type index and the values of an answer. Objects of the server become references to
/// them, which release them when they are dropped.
///
/// # Errors
/// RPCError for an answer that contradicts itself; MemoryError. The objects in the answer are
/// released then.
pub(super) fn from_answer(
    session: &Arc<Connected>,
    (kind, value, owner): (i32, Value, Value),
) -> Result<Any> {
    match (kind, value) {
        (type_index::NONE, _) | (_, Value::None) => Ok(Any::NONE),
        (type_index::TENSOR | type_index::DL_TENSOR_PTR, Value::Tensor(tensor)) => {
            let Some(owner) = owner.handle() else { return Err(contradiction(kind)) };
            tensor::create(session, &tensor, owner).map(Any::from)
        }
        (type_index::STATIC_OBJECT_BEGIN.., Value::Pointer(handle)) if !is_text(kind) => {
            reference(session, kind, handle)
        }
        (_, value) => plain(kind, value),
    }
}

/// Returns `true` for the types whose content is in the answer.
fn is_text(kind: i32) -> bool {
    matches!(kind, type_index::STR | type_index::BYTES)
}

/// Creates a reference to an object of the server.
fn reference(session: &Arc<Connected>, kind: i32, handle: u64) -> Result<Any> {
    if handle == 0 {
        return Ok(Any::NONE);
    }
    match kind {
        type_index::FUNCTION => function::create(session, handle).map(Any::from),
        type_index::MODULE => module::create(session, handle).map(Any::from),
        _ => object::create(session, handle),
    }
}

/// Converts a value that the answer contains completely. Its type is the one that the value has on
/// the wire, whatever the type index says.
fn plain(kind: i32, value: Value) -> Result<Any> {
    Ok(match value {
        Value::None => Any::NONE,
        Value::Int(number) => number.into(),
        Value::Bool(truth) => truth.into(),
        Value::Float(number) => number.into(),
        Value::DataType(dtype) => dtype.into(),
        // A device of the server is a number pair to this process, as in TVM's client.
        Value::Device(device) => device.into(),
        Value::String(text) => String::from_bytes(&text)?.into(),
        Value::Bytes(bytes) => Bytes::new(&bytes)?.into(),
        // An address of another process: as a pointer, functions of this process would follow it.
        Value::Pointer(address) => address.cast_signed().into(),
        Value::Tensor(_) => return Err(contradiction(kind)),
    })
}

/// Converts the value of a device attribute.
///
/// # Errors
/// RPCError for a tensor; MemoryError.
pub(super) fn attribute(value: Value) -> Result<Any> {
    plain(type_index::ANY, value)
}

fn contradiction(kind: i32) -> ferrite_core::Error {
    errors::malformed(format_args!("a result of type {kind} without its value"))
}

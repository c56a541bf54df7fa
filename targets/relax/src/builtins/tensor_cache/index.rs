//! `tensor-cache.json`: the files of a folder and the tensors in each.

use ferrite_alloc_ext::containers::{Array, Map};
use ferrite_alloc_ext::json;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, String, plain_error};

type JsonObject = Map<String, Any>;

/// Returns a field of an object.
///
/// # Errors
/// KeyError if it is missing; TypeError for a value of another type.
fn field<T: AnyCompatible>(object: &JsonObject, name: &str) -> Result<T> {
    match object.get(&String::new(name)?)? {
        Some(value) => value.get(),
        None => Err(plain_error!(KEY_ERROR, "The index lacks the field {}", name)),
    }
}

/// Returns the objects in the field `records`.
fn records(object: &JsonObject) -> Result<Array<Any>> {
    field(object, "records")
}

/// A file with tensors.
pub(super) struct Shard {
    /// Path inside the folder.
    pub(super) path: String,
    pub(super) format: String,
    /// Length of the file.
    pub(super) bytes: i64,
    object: JsonObject,
}

/// A tensor in a file.
pub(super) struct Record {
    pub(super) name: String,
    pub(super) shape: Buffer<i64>,
    pub(super) dtype: DLDataType,
    /// Encoding: `raw`, or `f32-to-bf16` for the upper halves of float32 elements.
    pub(super) format: String,
    pub(super) offset: i64,
    pub(super) bytes: i64,
}

/// Returns the files that an index lists.
///
/// # Errors
/// InternalError for text that is not JSON; ValueError for another value than an object; KeyError
/// and TypeError for missing and wrong fields; MemoryError.
pub(super) fn read(text: &[u8]) -> Result<Buffer<Shard>> {
    let value = json::parse(text).map_err(|error| failed(&error))?;
    let Some(index) = value.view().try_get::<JsonObject>()? else {
        return Err(plain_error!(VALUE_ERROR, "The given string is not a JSON object: {}", text));
    };
    let mut shards = Buffer::new();
    for object in records(&index)?.as_slice() {
        let object = object.get::<JsonObject>()?;
        let (path, format) = (field(&object, "dataPath")?, field(&object, "format")?);
        shards.try_push(Shard { path, format, bytes: field(&object, "nbytes")?, object })?;
    }
    Ok(shards)
}

fn failed(error: &Error) -> Error {
    plain_error!(INTERNAL_ERROR, "Failed to parse JSON: {}", error.message_bytes())
}

impl Shard {
    /// Returns the tensors in the file.
    ///
    /// # Errors
    /// KeyError and TypeError for missing and wrong fields; ValueError for an unknown dtype;
    /// MemoryError.
    pub(super) fn records(&self) -> Result<Buffer<Record>> {
        let mut found = Buffer::new();
        for object in records(&self.object)?.as_slice() {
            found.try_push(Record::read(&object.get()?)?)?;
        }
        Ok(found)
    }
}

impl Record {
    fn read(object: &JsonObject) -> Result<Record> {
        let mut shape = Buffer::new();
        for extent in field::<Array<Any>>(object, "shape")?.as_slice() {
            shape.try_push(extent.get()?)?;
        }
        Ok(Record {
            name: field(object, "name")?,
            shape,
            dtype: field(object, "dtype")?,
            format: field(object, "format")?,
            offset: field(object, "byteOffset")?,
            bytes: field(object, "nbytes")?,
        })
    }
}

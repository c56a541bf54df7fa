//! Global functions for weights: maps from names to arrays, written to bytes and files and read
//! back.
//!
//! ```text
//! u64 magic, u64 reserved, u64 count, count * { u64 length, name }, u64 count, count * array (see `array_bytes`)
//! ```

use ferrite_alloc_ext::containers::MapObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Lossy;
use ferrite_core::{Any, Bytes, String, error, plain_ensure, plain_error, static_function};

use super::array_bytes::{Cursor, malformed, put, write_array};

/// Functions that write weights.
pub const RUNTIME: &[StaticFunction] = &[
    static_function!("runtime.SaveParams", save),
    static_function!("runtime.SaveParamsToFile", save_to_file),
];

/// Functions that read weights, for libraries without whole models.
pub const RUNTIME_WITHOUT_MODELS: &[StaticFunction] = &[
    static_function!("runtime.LoadParams", load),
    static_function!("runtime.LoadParamsFromFile", load_from_file),
];

const MAGIC: u64 = 0xF7E5_8D4F_0504_9CB7;

fn save(params: MapObject) -> Result<Bytes> {
    Bytes::new(&written(&params)?)
}

fn save_to_file(params: MapObject, path: String) -> Result<()> {
    std::fs::write(path_of(&path)?, &*written(&params)?)
        .map_err(|reason| file_error(&path, &reason))
}

fn load(bytes: Bytes) -> Result<MapObject> {
    read(bytes.as_bytes())
}

fn load_from_file(path: String) -> Result<MapObject> {
    read(&std::fs::read(path_of(&path)?).map_err(|reason| file_error(&path, &reason))?)
}

fn path_of(path: &String) -> Result<&std::path::Path> {
    match path.as_str() {
        Some(path) => Ok(std::path::Path::new(path)),
        None => Err(plain_error!(VALUE_ERROR, "The path of a file is not UTF-8")),
    }
}

fn file_error(path: &String, reason: &std::io::Error) -> Error {
    error!(InternalError, "Cannot access the file {}: {}", Lossy(path.as_bytes()), reason)
}

fn written(params: &MapObject) -> Result<Buffer<u8>> {
    let count = params.len() as u64;
    let mut out = Buffer::new();
    put(&mut out, &[MAGIC, 0, count])?;
    for (name, _) in params.iter() {
        let name = name.get::<String>()?;
        put(&mut out, &[name.as_bytes().len() as u64])?;
        out.try_extend_from_slice(name.as_bytes())?;
    }
    put(&mut out, &[count])?;
    for (_, tensor) in params.iter() {
        write_array(&mut out, &tensor.get()?)?;
    }
    Ok(out)
}

fn read(bytes: &[u8]) -> Result<MapObject> {
    let mut file = Cursor(bytes);
    let (magic, _reserved, count) = (file.u64()?, file.u64()?, file.u64()?);
    plain_ensure!(magic == MAGIC, INTERNAL_ERROR, "Invalid parameters file format");
    let mut names = Buffer::new();
    for _ in 0..count {
        let length = file.u64()?;
        names.try_push(file.bytes(length)?)?;
    }
    if file.u64()? != count {
        return Err(malformed());
    }
    let mut params = MapObject::with_capacity(names.len())?;
    for name in names.iter() {
        params.insert(Any::from(String::from_bytes(name)?), Any::from(file.tensor()?))?;
    }
    Ok(params)
}

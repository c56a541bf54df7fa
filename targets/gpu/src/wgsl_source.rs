//! Text descriptions of a WebGPU module, in the formats of TVM's compiler: the source of its
//! shaders, and its kernels as JSON.

use ferrite_alloc_ext::containers::{ArrayObject, MapObject};
use ferrite_alloc_ext::json;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::dtype;
use ferrite_core::{Any, String};

use crate::payload::{Kernel, Payload};

/// Returns the sources of all kernels, each below a title line.
///
/// # Errors
/// MemoryError.
pub fn shaders(payload: &Payload) -> Result<String> {
    let mut text = Buffer::new();
    for kernel in payload.kernels() {
        for part in
            [b"// Function: ", payload.name_of(kernel), b"\n", payload.code_of(kernel), b"\n"]
        {
            text.try_extend_from_slice(part)?;
        }
    }
    String::from_buffer(text, 0)
}

/// Returns the kernels by name, as a JSON object.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// The text of `inspect_source("func_info")` and `webgpu.get_fmap`.
pub fn function_map(payload: &Payload) -> Result<String> {
    let mut map = MapObject::with_capacity(payload.kernels().len())?;
    for kernel in payload.kernels() {
        let name = String::from_bytes(payload.name_of(kernel))?;
        map.insert(name.clone().into(), information(payload, kernel, name)?.into())?;
    }
    json::stringify(&map.into(), None)
}

/// Returns the name, parameter types and launch tags of a kernel.
fn information(payload: &Payload, kernel: &Kernel, name: String) -> Result<MapObject> {
    let types = kernel.parameters.iter().map(|dtype| dtype::to_string(*dtype).map(Any::from));
    let tags = payload.tags_of(kernel).map(|tag| String::from_bytes(tag).map(Any::from));
    let extra_tags = kernel.extra_tags.iter().map(|tag| Ok(Any::from(i64::from(*tag))));
    let mut map = MapObject::with_capacity(4)?;
    map.insert(String::new("name")?.into(), name.into())?;
    map.insert(String::new("arg_types")?.into(), list(types)?.into())?;
    map.insert(String::new("launch_param_tags")?.into(), list(tags)?.into())?;
    map.insert(String::new("arg_extra_tags")?.into(), list(extra_tags)?.into())?;
    Ok(map)
}

/// Returns one kernel as a JSON object, as in [`function_map`].
///
/// # Errors
/// MemoryError.
pub fn function_info(payload: &Payload, kernel: &Kernel) -> Result<String> {
    let name = String::from_bytes(payload.name_of(kernel))?;
    json::stringify(&information(payload, kernel, name)?.into(), None)
}

fn list(values: impl Iterator<Item = Result<Any>>) -> Result<ArrayObject> {
    let mut list = ArrayObject::with_capacity(0)?;
    for value in values {
        list.push(value?)?;
    }
    Ok(list)
}

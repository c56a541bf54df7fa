//! Global functions for Arrays and Maps: `_Array` and related functions up to 0.6, where elements
//! are nodes; `runtime.Array` and related functions since 0.7.

use ferrite_alloc_ext::containers::{ArrayObject, MapObject};
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::{Any, AnyView, plain_ensure, static_function};

use crate::boxed;

/// Container functions of TVM 0.7 and later.
pub const RUNTIME: &[StaticFunction] = &[
    static_function!(packed "runtime.Array", array),
    static_function!("runtime.ArrayGetItem", array_item),
    static_function!("runtime.ArraySize", array_size),
    static_function!(packed "runtime.Map", map),
    static_function!("runtime.MapGetItem", map_item),
    static_function!("runtime.MapCount", map_count),
    static_function!("runtime.MapItems", map_items),
    static_function!("runtime.MapSize", map_size),
];

/// Container functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] = &[
    static_function!(packed "_Array", array),
    static_function!("_ArrayGetItem", node_of_array),
    static_function!("_ArraySize", array_size),
    static_function!(packed "_Map", map),
    static_function!("_MapGetItem", node_of_map),
    static_function!("_MapCount", map_count),
    static_function!("_MapItems", map_items),
    static_function!("_MapSize", map_size),
];

/// Creates an Array from the arguments. Constants are unboxed to numbers and strings.
fn array(args: &[AnyView<'_>]) -> Result<Any> {
    let mut array = ArrayObject::with_capacity(args.len())?;
    for &element in args {
        array.push(boxed::unwrap(element.to_owned()?))?;
    }
    Ok(array.into())
}

fn array_item(array: ArrayObject, index: i64) -> Result<Any> {
    boxed::wrap_number(array.get(index)?.clone())
}

fn node_of_array(array: ArrayObject, index: i64) -> Result<Any> {
    boxed::wrap(array.get(index)?.clone())
}

fn array_size(array: ArrayObject) -> i64 {
    array.len() as i64
}

/// Creates a Map from alternating keys and values. Constant values are unboxed to numbers and
/// strings. Keys are not, since nodes are compared by identity as keys.
fn map(args: &[AnyView<'_>]) -> Result<Any> {
    plain_ensure!(args.len().is_multiple_of(2), VALUE_ERROR, "A Map needs a value for each key");
    let mut map = MapObject::with_capacity(args.len() / 2)?;
    for entry in args.chunks_exact(2) {
        map.insert(entry[0].to_owned()?, boxed::unwrap(entry[1].to_owned()?))?;
    }
    Ok(map.into())
}

fn map_item(map: MapObject, key: Any) -> Result<Any> {
    boxed::wrap_number(map.at(key.view())?.clone())
}

fn node_of_map(map: MapObject, key: Any) -> Result<Any> {
    boxed::wrap(map.at(key.view())?.clone())
}

fn map_count(map: MapObject, key: Any) -> Result<i64> {
    Ok(i64::from(map.contains(key.view())?))
}

/// Returns an Array of alternating keys and values.
fn map_items(map: MapObject) -> Result<ArrayObject> {
    let mut items = ArrayObject::with_capacity(map.len() * 2)?;
    for (key, value) in map.iter() {
        items.push(key.clone())?;
        items.push(value.clone())?;
    }
    Ok(items)
}

fn map_size(map: MapObject) -> i64 {
    map.len() as i64
}

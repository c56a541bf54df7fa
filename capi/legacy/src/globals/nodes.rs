//! Global functions for attributes, string representation and JSON of objects: `_format_str` and
//! related functions up to 0.6, `node.*` since 0.7.

use ferrite_alloc_ext::dataclass::repr_print;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::object::ObjectRef;
use ferrite_core::{Any, AnyView, Function, String, plain_error, static_function};

use super::graph;
use crate::{boxed, object};

/// Object functions of TVM 0.7 and later outside `node.*`.
pub const RUNTIME: &[StaticFunction] = &[static_function!("runtime.ObjectPtrHash", address)];

/// The `node.*` functions.
pub const NODE: &[StaticFunction] = &[
    static_function!("node.AsRepr", text_of),
    static_function!("node.AsLegacyRepr", text_of),
    static_function!("node.SaveJSON", to_json),
    static_function!("node.LoadJSON", from_json),
    static_function!("node.NodeGetAttr", attribute),
    static_function!("node.NodeListAttrNames", attribute_names),
];

/// Object functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] = &[
    static_function!("_format_str", text_of),
    static_function!("_raw_ptr", address),
    static_function!("_save_json", to_old_json),
    static_function!("_load_json", node_from_json),
    static_function!("_NodeGetAttr", node_of_attribute),
    static_function!("_NodeListAttrNames", attribute_names),
];

fn text_of(value: Any) -> Result<String> {
    repr_print(&boxed::unwrap(value))
}

fn address(object: ObjectRef) -> i64 {
    object.as_ptr().addr() as i64
}

fn to_json(value: Any) -> Result<String> {
    graph::to_json(boxed::unwrap(value), graph::Dialect::of_caller())
}

fn to_old_json(value: Any) -> Result<String> {
    graph::to_json(boxed::unwrap(value), graph::Dialect::UNTIL_0_6)
}

fn from_json(text: String) -> Result<Any> {
    boxed::wrap_number(graph::from_json(text.as_bytes())?)
}

fn node_from_json(text: String) -> Result<Any> {
    boxed::wrap(graph::from_json(text.as_bytes())?)
}

fn attribute(object: ObjectRef, name: String) -> Result<Any> {
    let found = object::attribute(&object, name.as_bytes())?;
    found.ok_or_else(|| plain_error!(ATTRIBUTE_ERROR, "There is no attribute {}", name.as_bytes()))
}

/// Returns an attribute of an object. Raises AttributeError if the object does not have it.
fn node_of_attribute(object: ObjectRef, name: String) -> Result<Any> {
    attribute(object, name)
}

/// Creates a function that returns attribute names by index. For -1, it returns the number of
/// attributes.
fn attribute_names(object: ObjectRef) -> Result<Function> {
    let mut names = ferrite_alloc_ext::containers::ArrayObject::with_capacity(0)?;
    object::attribute_names(&object, &mut |name| names.push(String::from_bytes(name)?.into()))?;
    Function::from_packed(move |args: &[AnyView<'_>]| {
        match args.first().map(|index| index.get::<i64>()) {
            Some(Ok(-1)) | None => Ok(Any::from(names.len() as i64)),
            Some(index) => names.get(index?).cloned(),
        }
    })
}

//! Global functions for strings, constants, shapes and tagged tuples.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::object::ObjectRef;
use ferrite_core::{Any, AnyView, Shape, String, plain_bail, plain_ensure, static_function};

use crate::{boxed, dtype};

/// Value functions of TVM 0.7 and later.
pub const RUNTIME: &[StaticFunction] = &[
    static_function!("runtime.String", text_object),
    static_function!("runtime.GetFFIString", text),
    static_function!(packed "runtime.ShapeTuple", shape),
    static_function!("runtime.GetShapeTupleSize", shape_size),
    static_function!("runtime.GetShapeTupleElem", shape_element),
    static_function!(packed "runtime.ADT", adt),
    static_function!(packed "runtime.Tuple", tuple),
    static_function!("runtime.GetADTTag", adt_tag),
    static_function!("runtime.GetADTSize", adt_size),
    static_function!("runtime.GetADTFields", adt_field),
];

/// The `node.*` functions for constants.
pub const NODE: &[StaticFunction] = &[static_function!(packed "node._const", constant)];

/// Value functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] = &[
    static_function!("_str", string_constant),
    static_function!(packed "_const", constant),
    static_function!(packed "_nop", nothing),
];

fn text_object(text: String) -> Result<Any> {
    boxed::create(&boxed::STRING, boxed::HANDLE, text.into())
}

fn text(text: String) -> String {
    text
}

fn string_constant(text: String) -> Result<Any> {
    boxed::wrap(text.into())
}

/// Creates a constant. Takes `(number, dtype[, span])`.
fn constant(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [number, name, ..] => {
            boxed::constant(*number, dtype::to_current(dtype::of_argument(*name)?))
        }
        _ => plain_bail!(TYPE_ERROR, "A number and a data type were expected"),
    }
}

fn nothing(_args: &[AnyView<'_>]) -> Result<Any> {
    Ok(Any::NONE)
}

fn shape(args: &[AnyView<'_>]) -> Result<Any> {
    Shape::try_from_iter(args.iter().map(|extent| extent.get::<i64>())).map(Any::from)
}

fn shape_size(shape: Shape) -> i64 {
    shape.as_slice().len() as i64
}

fn shape_element(shape: Shape, index: i64) -> Result<i64> {
    let extents = shape.as_slice();
    match usize::try_from(index).ok().and_then(|index| extents.get(index)) {
        Some(extent) => Ok(*extent),
        None => plain_bail!(
            INDEX_ERROR,
            "There is no extent {} in a shape of {}",
            &index,
            extents.len()
        ),
    }
}

/// Creates a tagged tuple. Takes `(tag, field...)`.
fn adt(args: &[AnyView<'_>]) -> Result<Any> {
    let Some(tag) = args.first() else { plain_bail!(TYPE_ERROR, "A tagged tuple needs a tag") };
    make_adt(tag.get()?, &args[1..])
}

/// Creates a tagged tuple with tag 0. Takes `(field...)`.
fn tuple(args: &[AnyView<'_>]) -> Result<Any> {
    make_adt(0, args)
}

fn make_adt(tag: i64, fields: &[AnyView<'_>]) -> Result<Any> {
    let mut parts = ArrayObject::with_capacity(fields.len() + 1)?;
    parts.push(Any::from(tag))?;
    for &field in fields {
        parts.push(field.to_owned()?)?;
    }
    boxed::create(&boxed::ADT, boxed::HANDLE, parts.into())
}

/// Returns the Array of a tagged tuple's tag and fields.
fn parts_of(adt: &ObjectRef) -> Result<ArrayObject> {
    plain_ensure!(boxed::ADT.is_class_of(adt), TYPE_ERROR, "A tagged tuple was expected");
    // SAFETY: the class was checked.
    unsafe { (*boxed::value_of(adt.as_ptr())).get() }
}

fn adt_tag(adt: ObjectRef) -> Result<Any> {
    parts_of(&adt)?.get(0).cloned()
}

fn adt_size(adt: ObjectRef) -> Result<i64> {
    Ok(parts_of(&adt)?.len() as i64 - 1)
}

fn adt_field(adt: ObjectRef, index: i64) -> Result<Any> {
    let parts = parts_of(&adt)?;
    match index.checked_add(1).filter(|_| index >= 0) {
        Some(place) => parts.get(place).cloned(),
        None => plain_bail!(INDEX_ERROR, "There is no field {}", &index),
    }
}

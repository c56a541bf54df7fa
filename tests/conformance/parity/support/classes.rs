//! Reflected classes, registered with both libraries before the first property runs.

use super::{Library, Value};
use ferrite_core::abi::*;
use ferrite_tests::Outcome;
use std::ffi::{c_int, c_void};

/// A class, with the fields that it adds to those of its parent.
pub struct Class {
    pub key: &'static str,
    /// Index of its parent in `CLASSES`.
    parent: Option<usize>,
    kind: TVMFFISEqHashKind,
    fields: &'static [Field],
}

struct Field {
    name: &'static str,
    /// Static type of the fields: `kTVMFFIAny` for a whole cell, or a plain type.
    holds: i32,
    flags: i32,
}

const fn field(name: &'static str, holds: i32, flags: i32) -> Field {
    Field { name, holds, flags }
}

const fn any(name: &'static str) -> Field {
    field(name, kTVMFFIAny, 0)
}

const fn class(key: &'static str, kind: TVMFFISEqHashKind, fields: &'static [Field]) -> Class {
    Class { key, parent: None, kind, fields }
}

/// Classes for each kind of structural comparison. The classes with variables are in the middle.
pub const CLASSES: &[Class] = &[
    class("parity.Tree", kTVMFFISEqHashKindTreeNode, &[any("left"), any("right")]),
    class("parity.Dag", kTVMFFISEqHashKindDAGNode, &[any("left"), any("right")]),
    class("parity.Const", kTVMFFISEqHashKindConstTreeNode, &[any("left"), any("right")]),
    class(
        "parity.Plain",
        kTVMFFISEqHashKindTreeNode,
        &[
            field("int", kTVMFFIInt, 0),
            field("float", kTVMFFIFloat, 0),
            field("bool", kTVMFFIBool, 0),
            field("dtype", kTVMFFIDataType, 0),
            field("device", kTVMFFIDevice, 0),
            field("ignored", kTVMFFIAny, kTVMFFIFieldFlagBitMaskSEqHashIgnore),
            field("hidden", kTVMFFIAny, kTVMFFIFieldFlagBitMaskReprOff),
            field(
                "uncompared",
                kTVMFFIAny,
                kTVMFFIFieldFlagBitMaskCompareOff | kTVMFFIFieldFlagBitMaskHashOff,
            ),
            field("unhashed", kTVMFFIAny, kTVMFFIFieldFlagBitMaskHashOff),
        ],
    ),
    class("parity.Unique", kTVMFFISEqHashKindUniqueInstance, &[any("content")]),
    Class {
        parent: Some(0),
        ..class("parity.SubTree", kTVMFFISEqHashKindTreeNode, &[any("more")])
    },
    class(
        "parity.Var",
        kTVMFFISEqHashKindFreeVar,
        &[field("name", kTVMFFIAny, kTVMFFIFieldFlagBitMaskSEqHashIgnore), any("type")],
    ),
    class(
        "parity.Lambda",
        kTVMFFISEqHashKindTreeNode,
        &[field("params", kTVMFFIAny, kTVMFFIFieldFlagBitMaskSEqHashDefPattern), any("body")],
    ),
    class(
        "parity.Let",
        kTVMFFISEqHashKindTreeNode,
        &[
            any("value"),
            field("var", kTVMFFIAny, kTVMFFIFieldFlagBitMaskSEqHashDefSimple),
            any("body"),
        ],
    ),
    class("parity.Incomparable", kTVMFFISEqHashKindUnsupported, &[any("content")]),
];

const VARIABLES: std::ops::Range<usize> = 6..9;

/// Returns the indices of all classes.
pub fn all_classes() -> std::ops::Range<usize> {
    0..CLASSES.len()
}

/// Returns the indices of classes without variables, whose structural hash is the same in every
/// process.
pub fn classes_without_variables() -> std::ops::Range<usize> {
    0..VARIABLES.start
}

/// Returns the indices of classes that are variables or define some.
pub fn classes_with_variables() -> std::ops::Range<usize> {
    VARIABLES
}

/// Registers all classes.
pub fn register(library: &'static Library) -> Outcome<()> {
    let mut indices = Vec::new();
    for class in CLASSES {
        let parent = class.parent.map_or(kTVMFFIObject, |parent| indices[parent]);
        let depth = 1 + i32::from(class.parent.is_some());
        let key = bytes(class.key);
        // SAFETY: the key lives through the call.
        let index =
            unsafe { (library.symbols.type_index)(&raw const key, -1, depth, 0, 1, parent) };
        indices.push(index);
        add_fields(library, class, index)
            .map_err(|error| format!("{} library, {}: {error}", library.name, class.key))?;
    }
    Ok(())
}

fn add_fields(library: &'static Library, class: &Class, index: i32) -> Result<(), super::Raised> {
    let mut offset = header(class);
    for field in class.fields {
        let (size, alignment) = layout(field.holds);
        offset = offset.next_multiple_of(alignment);
        let getter = library
            .call("ffi.MakeFieldGetter", &[&Value::int(library, field.holds.into())])?
            .as_int();
        let getter = std::ptr::with_exposed_provenance::<()>(getter as usize);
        let info = TVMFFIFieldInfo {
            name: bytes(field.name),
            doc: bytes(""),
            metadata: bytes("{}"),
            flags: i64::from(
                field.flags
                    | kTVMFFIFieldFlagBitMaskWritable
                    | kTVMFFIFieldFlagBitSetterIsFunctionObj,
            ),
            size: size as i64,
            alignment: alignment as i64,
            offset: offset as i64,
            // SAFETY: the library returns the address of a getter.
            getter: Some(unsafe { std::mem::transmute::<*const (), TVMFFIFieldGetter>(getter) }),
            setter: setter(library, field.holds)?.into_handle(),
            default_value_or_factory: TVMFFIAny::NONE,
            field_static_type_index: field.holds,
        };
        // SAFETY: the record is complete, and the ownership of its setter is transferred.
        library.status(unsafe { (library.symbols.register_field)(index, &raw const info) })?;
        offset += size;
    }
    let metadata = TVMFFITypeMetadata {
        doc: bytes(""),
        creator: None,
        total_size: offset.next_multiple_of(8) as i32,
        structural_eq_hash_kind: class.kind,
    };
    // SAFETY: the record lives through the call.
    library.status(unsafe { (library.symbols.register_metadata)(index, &raw const metadata) })?;
    let size = Value::int(library, metadata.total_size.into());
    library.call(
        "ffi._PyClassRegisterTypeAttrColumns",
        &[&Value::int(library, index.into()), &size],
    )?;
    Ok(())
}

/// Returns the offset of the first field that a class adds.
fn header(class: &Class) -> usize {
    let inherited = class.parent.map_or(&[][..], |parent| CLASSES[parent].fields);
    size_of::<TVMFFIObject>() + inherited.len() * size_of::<TVMFFIAny>()
}

const fn bytes(text: &'static str) -> TVMFFIByteArray {
    TVMFFIByteArray::from_slice(text.as_bytes())
}

fn layout(holds: i32) -> (usize, usize) {
    match holds {
        kTVMFFIBool => (1, 1),
        kTVMFFIDataType => (4, 2),
        kTVMFFIDevice => (8, 4),
        kTVMFFIAny => (16, 8),
        _ => (8, 8),
    }
}

/// Returns the library's own setter with a conversion that accepts every value.
fn setter(library: &'static Library, holds: i32) -> Result<Value, super::Raised> {
    let context = std::ptr::from_ref(library).expose_provenance();
    let convert = keep as unsafe extern "C" fn(_, _, _) -> _ as *const () as usize;
    let [context, convert] = [context, convert].map(|address| Value::int(library, address as i64));
    library.call("ffi.MakeFieldSetter", &[&Value::int(library, holds.into()), &context, &convert])
}

unsafe extern "C" fn keep(
    context: *const c_void,
    value: *const TVMFFIAny,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: `setter` passed a library as context; the setter passes a live value and a valid
    // result pointer.
    unsafe { *result = Value::borrowed(&*context.cast::<Library>(), *value).into_cell() };
    0
}

/// Creates an object of a class and sets its fields in order: cells from `fields`, plain data from
/// `number`.
pub fn make(library: &'static Library, class: &Class, fields: &[Value], number: i64) -> Value {
    let own = class.fields.iter();
    let all = class.parent.map_or(&[][..], |parent| CLASSES[parent].fields).iter().chain(own);
    let mut arguments = vec![Value::string(library, class.key)];
    for (at, field) in all.enumerate() {
        arguments.push(Value::string(library, field.name));
        arguments.push(match field.holds {
            kTVMFFIInt => Value::int(library, number),
            kTVMFFIFloat => Value::float(library, number as f64 / 2.0),
            kTVMFFIBool => Value::bool(library, number % 2 == 0),
            kTVMFFIDataType => {
                Value::dtype(library, DLDataType { code: number as u8, bits: 32, lanes: 1 })
            }
            kTVMFFIDevice => {
                Value::device(library, DLDevice { device_type: kDLCPU, device_id: number as i32 })
            }
            _ => fields[at % fields.len()].clone(),
        });
    }
    let arguments: Vec<&Value> = arguments.iter().collect();
    library.call("ffi.MakeObjectFromPackedArgs", &arguments).expect("an object is made")
}

//! Tests of classes that a client defines by fields: construction, copies, and errors of wrong
//! calls.

use core::ffi::c_void;

use ferrite_core::abi::{
    TVMFFIFieldInfo, kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitMaskInitOff,
    kTVMFFIFieldFlagBitMaskKwOnly, type_index,
};
use ferrite_core::error::Result;
use ferrite_core::names::ffi_functions::kwargs_object;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{Error, Function, String};

use super::field::{get, set, text};
use super::fields::{fields_of, type_of};
use super::py_class::register_class;

/// Fields of the test class: required `a`, `b` with default 7, keyword-only `c`, and `d`, which
/// takes no argument.
const FIELDS: [(&str, i32); 4] = [
    ("b", kTVMFFIFieldFlagBitMaskHasDefault),
    ("a", 0),
    ("c", kTVMFFIFieldFlagBitMaskKwOnly),
    ("d", kTVMFFIFieldFlagBitMaskInitOff),
];

/// Registers a type with these fields.
fn type_with(key: &str, fields: impl Iterator<Item = TVMFFIFieldInfo>) -> Result<i32> {
    let index = type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: -1,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: type_index::OBJECT,
    })?;
    for info in fields {
        // SAFETY: the strings outlive the call, and the fields are used as described.
        unsafe { type_table::register_field(index, &info)? };
    }
    Ok(index)
}

fn class(key: &str) -> Result<i32> {
    let cells = FIELDS.iter().enumerate();
    let cells =
        cells.map(|(at, (name, flags))| field(name, i64::from(*flags), 16, 24 + 16 * at as i64));
    let index = type_with(key, cells)?;
    register_class(index, 24 + 16 * FIELDS.len() as i32)?;
    Ok(index)
}

/// Describes a field that can store any value.
fn field(name: &str, flags: i64, size: i64, offset: i64) -> TVMFFIFieldInfo {
    TVMFFIFieldInfo {
        name: text(name),
        doc: text(""),
        metadata: text(""),
        flags,
        size,
        alignment: 8,
        offset,
        getter: Some(get::<Any>),
        setter: set::<Any> as *mut c_void,
        default_value_or_factory: *AnyView::from(7i64).as_raw(),
        field_static_type_index: type_index::ANY,
    }
}

fn attr(index: i32, name: &str) -> Function {
    type_table::attr(index, name.as_bytes()).get().unwrap()
}

/// Returns the values of the fields, with 0 for None.
fn values(index: i32, object: &ObjectRef) -> Result<std::vec::Vec<i64>> {
    let read = fields_of(type_of(index)?).map(|field| {
        let mut value = *AnyView::NONE.as_raw();
        // SAFETY: the object has the field, and the result is a valid cell.
        unsafe {
            field.info().getter.unwrap()(field.address(object.as_ptr()), &mut value);
            Ok(Any::from_raw(value).get::<Option<i64>>()?.unwrap_or(0))
        }
    });
    read.collect()
}

fn message(result: Result<Any>) -> std::string::String {
    let error: Error = result.unwrap_err();
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

#[cfg(feature = "std")]
#[test]
fn a_type_whose_objects_others_make_is_no_class_of_fields() -> Result<()> {
    let taken = type_with("test.init.Taken", core::iter::empty())?;
    // As a class in Rust of another binary, or of another thread, which has not come further.
    type_table::register_attr(taken, b"__ferrite_maker__", AnyView::from(0x1000i64))?;
    let derived = type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: b"test.init.DerivedFromTaken",
        static_type_index: -1,
        type_depth: 2,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: taken,
    })?;
    for index in [taken, derived] {
        let error = register_class(index, 64).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert!(type_table::attr(index, b"__ffi_new__").is_none());
    }
    Ok(())
}

#[test]
fn fields_take_positional_and_keyword_arguments() -> Result<()> {
    let index = class("test.reflection.Init")?;
    let (init, kwargs, c) = (attr(index, "__ffi_init__"), kwargs_object(), String::new("c")?);
    let keyword = [AnyView::from(&kwargs), AnyView::from(&c), 3i64.into()];
    let object = |positional: &[AnyView<'_>]| -> Result<ObjectRef> {
        init.call_packed(&[positional, &keyword[..]].concat())?.get()
    };
    assert_eq!(values(index, &object(&[1i64.into()])?)?, [7, 1, 3, 0]);
    assert_eq!(values(index, &object(&[1i64.into(), 2i64.into()])?)?, [2, 1, 3, 0]);
    let copy =
        attr(index, "__ffi_shallow_copy__").call_packed(&[(&object(&[4i64.into()])?).into()])?;
    assert_eq!(values(index, &copy.get()?)?, [7, 4, 3, 0]);
    Ok(())
}

#[test]
fn wrong_arguments_are_named() -> Result<()> {
    let index = class("test.reflection.Wrong")?;
    let (init, kwargs) = (attr(index, "__ffi_init__"), kwargs_object());
    let (a, nope) = (String::new("a")?, String::new("nope")?);
    let one = AnyView::from(1i64);
    let head = "test.reflection.Wrong.__ffi_init__()";
    let kwargs = AnyView::from(&kwargs);
    for (args, expected) in [
        (&[][..], "missing required argument: 'a'"),
        (&[one][..], "missing required keyword-only argument: 'c'"),
        (&[one, one, one][..], "takes at most 2 positional argument(s), but 3 were given"),
        (&[kwargs, one][..], "KWARGS requires an even number of key-value arguments"),
        (&[kwargs, (&nope).into(), one][..], "got an unexpected keyword argument 'nope'"),
        (&[one, kwargs, (&a).into(), one][..], "got multiple values for argument 'a'"),
    ] {
        assert_eq!(message(init.call_packed(args)), std::format!("{head} {expected}"));
    }
    Ok(())
}

#[test]
fn a_class_is_registered_once_and_holds_its_fields() -> Result<()> {
    let index = class("test.reflection.Once")?;
    assert_eq!(register_class(index, 24 + 64).unwrap_err().kind_bytes(), b"RuntimeError");
    assert_eq!(register_class(index, 40).unwrap_err().kind_bytes(), b"ValueError");
    assert_eq!(register_class(i32::MAX, 40).unwrap_err().kind_bytes(), b"InternalError");
    for fixed in
        [type_index::INT, type_index::OBJECT_RVALUE_REF, type_index::OBJECT, type_index::ARRAY]
    {
        assert_eq!(register_class(fixed, 80).unwrap_err().kind_bytes(), b"ValueError");
    }
    Ok(())
}

#[test]
fn fields_smaller_than_a_value_hold_no_reference() -> Result<()> {
    // Like a C++ field of type `std::optional<bool>`.
    let fields = [field("small", 0, 2, 24), field("value", 0, 16, 32)];
    let index = type_with("test.reflection.Small", fields.into_iter())?;
    register_class(index, 48)?;
    let object = attr(index, "__ffi_new__").call_packed(&[])?;
    #[repr(C)]
    struct Fields([u8; 2], Any);
    let record =
        |object: &Any| object.as_object().map(|object| object.as_ptr()).expect("an object");
    // SAFETY: the fields follow the header.
    let fields = |object: &Any| unsafe { &mut *record(object).add(1).cast::<Fields>() };
    *fields(&object) = Fields([1, 1], Any::from(5i64));
    let copy = attr(index, "__ffi_shallow_copy__").call_packed(&[object.view()])?;
    assert_eq!(fields(&copy).0, [1, 1]);
    assert_eq!(fields(&copy).1.get::<i64>()?, 5);
    Ok(())
}

#[test]
fn a_field_of_less_than_no_bytes_is_refused() -> Result<()> {
    let index = type_with("test.reflection.Less", [field("less", 0, -8, 32)].into_iter())?;
    assert_eq!(register_class(index, 48).unwrap_err().kind_bytes(), b"ValueError");
    Ok(())
}

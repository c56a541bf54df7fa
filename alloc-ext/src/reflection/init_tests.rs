//! Classes that a client defines by fields: construction, copies, and what a wrong call says.

use core::ffi::c_void;

use ferrite_core::abi::{
    TVMFFIFieldInfo, kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitMaskInitOff,
    kTVMFFIFieldFlagBitMaskKwOnly,
};
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::ffi_functions::kwargs_object;
use ferrite_core::object::ObjectRef;
use ferrite_core::type_table::{self, NewTypeRequest};
use ferrite_core::{Error, Function, String, type_index};

use super::field::{get, set, text};
use super::fields::{fields_of, type_of};
use super::py_class::register_class;

/// The fields of the test class: required `a`, `b` with default 7, keyword-only `c`, and `d` that takes no argument.
const FIELDS: [(&str, i32); 4] = [
    ("b", kTVMFFIFieldFlagBitMaskHasDefault),
    ("a", 0),
    ("c", kTVMFFIFieldFlagBitMaskKwOnly),
    ("d", kTVMFFIFieldFlagBitMaskInitOff),
];

fn class(key: &str) -> Result<i32> {
    let index = type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: -1,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: type_index::OBJECT,
    })?;
    for (at, (name, flags)) in FIELDS.iter().enumerate() {
        let info = TVMFFIFieldInfo {
            name: text(name),
            doc: text(""),
            metadata: text(""),
            flags: i64::from(*flags),
            size: 16,
            alignment: 8,
            offset: 24 + 16 * at as i64,
            getter: Some(get::<Any>),
            setter: set::<Any> as *mut c_void,
            default_value_or_factory: *AnyView::from(7i64).as_raw(),
            field_static_type_index: type_index::ANY,
        };
        // SAFETY: the texts live through the call, and the field holds a value cell.
        unsafe { type_table::register_field(index, &info)? };
    }
    register_class(index, 24 + 16 * FIELDS.len() as i32)?;
    Ok(index)
}

fn attr(index: i32, name: &str) -> Function {
    type_table::attr(index, name.as_bytes()).get().unwrap()
}

/// The values of the fields, `0` for None.
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
    std::string::String::from_utf8_lossy(error.message()).into_owned()
}

#[test]
fn fields_take_positional_and_keyword_arguments() -> Result<()> {
    let index = class("test.reflection.Init")?;
    let (init, kwargs, c) = (attr(index, "__ffi_init__"), kwargs_object(), String::new("c")?);
    let keyword = [AnyView::from(&kwargs), AnyView::from(&c), 3i64.into()];
    let object = |positional: &[AnyView<'_>]| -> Result<ObjectRef> {
        init.call(&[positional, &keyword[..]].concat())?.get()
    };
    assert_eq!(values(index, &object(&[1i64.into()])?)?, [7, 1, 3, 0]);
    assert_eq!(values(index, &object(&[1i64.into(), 2i64.into()])?)?, [2, 1, 3, 0]);
    let copy = attr(index, "__ffi_shallow_copy__").call(&[(&object(&[4i64.into()])?).into()])?;
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
        assert_eq!(message(init.call(args)), std::format!("{head} {expected}"));
    }
    Ok(())
}

#[test]
fn a_class_is_registered_once_and_holds_its_fields() -> Result<()> {
    let index = class("test.reflection.Once")?;
    assert_eq!(register_class(index, 24 + 64).unwrap_err().kind(), b"RuntimeError");
    assert_eq!(register_class(index, 40).unwrap_err().kind(), b"ValueError");
    assert_eq!(register_class(i32::MAX, 40).unwrap_err().kind(), b"InternalError");
    Ok(())
}

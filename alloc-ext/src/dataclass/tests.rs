//! Tests of repr: containers, objects, cycles and hooks.

use core::fmt::Write;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskReprOff;
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::ffi_functions::{invalid_object, kwargs_object};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::shape::Shape;
use ferrite_core::value::string::{Bytes, String};

use super::repr_print;
use super::testing::{add_hook, array, list, message, pair, pair_type, set_part};
use crate::containers::{DictObject, MapObject};

fn text(value: &Any) -> std::string::String {
    match repr_print(value) {
        Ok(text) => std::string::String::from(text.as_str().unwrap_or("not UTF-8")),
        refused => message(refused),
    }
}

#[test]
fn plain_values_and_leaves_have_upstreams_texts() -> Result<()> {
    for (value, expected) in [
        (Any::NONE, "None"),
        (Any::from(true), "True"),
        (Any::from(-7i64), "-7"),
        (Any::from(1.0f64), "1"),
        (Any::new(String::new("a\"b")?), "\"a\\\"b\""),
        (Any::new(String::new("longer than seven")?), "\"longer than seven\""),
        (Any::new(Bytes::new(b"a\xff")?), "b\"a\\xff\""),
        (Any::new(Bytes::new(b"longer than seven")?), "b\"longer than seven\""),
        (Any::new(Shape::from_slice(&[1, -2])?), "Shape(1, -2)"),
        (Any::new(ferrite_core::abi::DLDevice { device_type: 2, device_id: 1 }), "cuda:1"),
        (Any::new(ferrite_core::abi::DLDevice { device_type: 99, device_id: 1 }), "unknown:1"),
        (Any::new(invalid_object()), "<MISSING>"),
        (Any::new(kwargs_object()), "<KWARGS>"),
        (Any::new(Function::from_typed(|| 1i64)?), "ffi.Function"),
    ] {
        assert_eq!(text(&value), expected);
    }
    Ok(())
}

#[test]
fn containers_show_their_elements() -> Result<()> {
    let one = Any::from(1i64);
    assert_eq!(text(&array(&[])?), "()");
    assert_eq!(text(&array(core::slice::from_ref(&one))?), "(1,)");
    assert_eq!(text(&array(&[one.clone(), list(&[one.clone(), Any::NONE])?])?), "(1, [1, None])");
    let mut map = MapObject::with_capacity(0)?;
    map.insert(one.clone(), array(&[])?)?;
    map.insert(Any::NONE, one.clone())?;
    assert_eq!(text(&Any::new(map)), "{1: (), None: 1}");
    let dict = DictObject::with_capacity(0)?;
    assert_eq!(text(&Any::new(dict.clone())), "{}");
    dict.insert(one.clone(), Any::new(dict.clone()))?;
    assert_eq!(text(&Any::new(dict.clone())), "{1: ...}");
    dict.clear()?;
    Ok(())
}

#[test]
fn objects_show_the_fields_that_may_be_shown() -> Result<()> {
    let all = pair_type("test.repr.All", [0, 0])?;
    let some = pair_type("test.repr.Some", [0, i64::from(kTVMFFIFieldFlagBitMaskReprOff)])?;
    let none = pair_type("test.repr.None", [i64::from(kTVMFFIFieldFlagBitMaskReprOff); 2])?;
    let hidden = pair(none, Any::NONE, Any::NONE)?;
    let inner = pair(some, hidden, Any::from(1i64))?;
    assert_eq!(text(&inner), "test.repr.Some(first=test.repr.None)");
    let outer = pair(all, inner.clone(), Any::NONE)?;
    set_part(&outer, 1, outer.clone());
    assert_eq!(
        text(&outer),
        "test.repr.All(first=test.repr.Some(first=test.repr.None), second=...)"
    );
    set_part(&outer, 1, inner);
    let shared = "test.repr.Some(first=test.repr.None)";
    assert_eq!(text(&outer), std::format!("test.repr.All(first={shared}, second={shared})"));
    Ok(())
}

/// Registers a class whose repr hook prints `<first>` through its callback.
fn class_with_hook(key: &str) -> Result<i32> {
    let index = pair_type(key, [0, 0])?;
    let hook = Function::from_typed(|value: Any, print: Function| -> Result<String> {
        let first = super::testing::part(&value, 0);
        let inner = print.call_packed(&[first.view()])?.get::<String>()?;
        String::format(format_args!("<{inner}>"))
    })?;
    add_hook(index, "__ffi_repr__", &hook)?;
    Ok(index)
}

#[test]
fn hooks_print_their_objects_and_may_ask_for_others() -> Result<()> {
    let index = class_with_hook("test.repr.Hook")?;
    let shared = list(&[Any::from(1i64)])?;
    let one = pair(index, shared.clone(), Any::NONE)?;
    let two = pair(index, list(&[one.clone(), shared.clone()])?, Any::NONE)?;
    // Text that a hook asked for is reused afterwards, and the reverse.
    assert_eq!(
        text(&array(&[two.clone(), shared.clone(), one.clone()])?),
        "(<[<[1]>, [1]]>, [1], <[1]>)"
    );
    assert_eq!(text(&array(&[one.clone(), two])?), "(<[1]>, <[<[1]>, [1]]>)");
    set_part(&one, 0, list(core::slice::from_ref(&one))?);
    assert_eq!(text(&one), "<[...]>");
    set_part(&one, 0, Any::NONE);
    Ok(())
}

#[test]
fn errors_of_hooks_come_out() -> Result<()> {
    let index = pair_type("test.repr.Refuses", [0, 0])?;
    let hook = Function::from_packed(|_: &[AnyView<'_>]| -> Result<Any> {
        Err(ferrite_core::error!(ValueError, "no text"))
    })?;
    add_hook(index, "__ffi_repr__", &hook)?;
    assert_eq!(text(&list(&[pair(index, Any::NONE, Any::NONE)?])?), "no text");
    Ok(())
}

// Without `std` the limit counts the calls of other tests, too.
#[cfg(feature = "std")]
#[test]
fn hooks_may_nest_to_a_limit() {
    // Unoptimised calls need more than the 2 MiB that a test has.
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(nest_to_the_limit);
    thread.expect("a thread").join().expect("no panic").expect("no error");
}

#[cfg(feature = "std")]
fn nest_to_the_limit() -> Result<()> {
    let index = class_with_hook("test.repr.Deep")?;
    let mut value = Any::NONE;
    let limit = ferrite_core::platform::stack::MAX_NESTED_CALLS;
    for _ in 0..limit {
        value = pair(index, value, Any::NONE)?;
    }
    assert_eq!(text(&value).len(), 4 + 2 * limit);
    value = pair(index, value, Any::NONE)?;
    assert_eq!(text(&value), "Calls are nested too deep: more than 128 inside one another");
    Ok(())
}

#[test]
fn a_callback_works_only_while_its_hook_runs() -> Result<()> {
    static KEPT: ferrite_core::platform::sync::Mutex<Option<Function>> =
        ferrite_core::platform::sync::Mutex::new(None);
    let index = pair_type("test.repr.Keeps", [0, 0])?;
    let hook = Function::from_typed(|_: Any, print: Function| -> Result<String> {
        *KEPT.lock() = Some(print);
        String::new("kept")
    })?;
    add_hook(index, "__ffi_repr__", &hook)?;
    assert_eq!(text(&pair(index, Any::NONE, Any::NONE)?), "kept");
    let kept = KEPT.lock().take().expect("the hook ran");
    let error: Error =
        kept.call_packed(&[AnyView::NONE]).map(drop).expect_err("the hook has returned");
    assert_eq!(error.kind_bytes(), b"RuntimeError");
    Ok(())
}

#[test]
fn depth_does_not_come_from_the_stack() -> Result<()> {
    let depth = if cfg!(feature = "std") && !cfg!(miri) { 100_000 } else { 200 };
    let mut value = list(&[])?;
    for _ in 1..depth {
        value = list(&[value])?;
    }
    let mut expected = Buffer::new();
    for bracket in ["[", "]"] {
        for _ in 0..depth {
            assert!(expected.write_str(bracket).is_ok());
        }
    }
    assert_eq!(repr_print(&value)?.as_bytes(), expected.as_slice());
    Ok(())
}

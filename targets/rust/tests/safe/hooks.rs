//! Hooks whose results the library takes for new objects, and sets their read-only fields.

use std::sync::Mutex;

use ferrite::dataclass::deep_copy;
use ferrite::graph::from_json_graph_string;
use ferrite::structural::WalkOrder;
use ferrite::{
    Any, AnyView, Function, Object, ObjectArc, ObjectClass, Result, String, Structural,
    WeakObjectRef, type_table,
};

/// Registers a hook of a class.
fn add_hook<T: Object>(name: &str, hook: &Function) -> Result<()> {
    T::register()?;
    type_table::register_attr(ObjectArc::<T>::type_index(), name.as_bytes(), AnyView::from(hook))
}

/// Returns kind and message of the error that there must be.
fn error_of<T>(outcome: Result<T>) -> std::string::String {
    outcome.map(drop).expect_err("an error").to_string()
}

/// Returns the error for a result of a hook of `key` that is in use elsewhere.
fn in_use(hook: &str, key: &str) -> std::string::String {
    format!(
        "RuntimeError: {hook} of `{key}` returned an object that has other references, so that its fields cannot be set"
    )
}

/// Defines a class that never changes, and whose objects are borrowed without a count.
macro_rules! frozen {
    ($name:ident, $key:literal) => {
        #[derive(Object)]
        #[object(key = $key, no_copy, structural = "tree")]
        struct $name {
            value: i64,
        }
    };
}

frozen!(Kept, "safe.hooks.Kept");

#[test]
fn a_kept_object_is_no_copy() -> Result<()> {
    let kept = Kept { value: 1 }.into_arc()?;
    let value: &i64 = &kept.value;
    let hook = kept.clone();
    add_hook::<Kept>("__ffi_shallow_copy__", &Function::from_typed(move |_: Any| hook.clone())?)?;
    let expected = in_use("__ffi_shallow_copy__", "safe.hooks.Kept");

    let mapped: Result<Any> =
        Kept { value: 5 }.into_arc()?.structural_map(WalkOrder::Pre, |number: i64| number + 1);
    assert_eq!((error_of(mapped), *value), (expected.clone(), 1));
    let copied = deep_copy(&Kept { value: 5 }.into_arc()?.into());
    assert_eq!((error_of(copied), *value), (expected, 1));
    Ok(())
}

frozen!(Watched, "safe.hooks.Watched");

#[test]
fn a_copy_that_a_weak_reference_reaches_is_refused() -> Result<()> {
    static WATCH: Mutex<Option<WeakObjectRef<ObjectArc<Watched>>>> = Mutex::new(None);
    let hook = |_: Any| -> Result<ObjectArc<Watched>> {
        let made = Watched { value: 1 }.into_arc()?;
        *WATCH.lock().expect("nobody panics") = Some(WeakObjectRef::new(&made));
        Ok(made)
    };
    add_hook::<Watched>("__ffi_shallow_copy__", &Function::from_typed(hook)?)?;
    let expected = in_use("__ffi_shallow_copy__", "safe.hooks.Watched");

    // The closure has a reference to the copy while its field would be set.
    let mut upgraded = None;
    let mapped: Result<Any> =
        Watched { value: 5 }.into_arc()?.structural_map(WalkOrder::Pre, |number: i64| {
            upgraded =
                WATCH.lock().expect("nobody panics").as_ref().and_then(WeakObjectRef::upgrade);
            number + 1
        });
    assert_eq!((error_of(mapped), upgraded.is_none()), (expected.clone(), true));
    assert_eq!(error_of(deep_copy(&Watched { value: 5 }.into_arc()?.into())), expected);
    Ok(())
}

frozen!(Copied, "safe.hooks.Copied");

#[test]
fn a_new_copy_gets_the_fields() -> Result<()> {
    let hook = |object: ObjectArc<Copied>| Copied { value: object.value }.into_arc();
    add_hook::<Copied>("__ffi_shallow_copy__", &Function::from_typed(hook)?)?;
    let original = Copied { value: 5 }.into_arc()?;
    let mapped: ObjectArc<Copied> =
        original.clone().structural_map(WalkOrder::Pre, |number: i64| number + 1)?;
    assert_eq!((original.value, mapped.value), (5, 6));
    Ok(())
}

/// Defines a class that never changes and has no creator, since a function has no initial value.
macro_rules! without_creator {
    ($name:ident, $key:literal, $value:ty) => {
        #[derive(Object)]
        #[object(key = $key, no_copy, structural = "tree")]
        #[repr(C)]
        struct $name {
            value: $value,
            call: Function,
        }
    };
}

fn nothing() -> Result<Function> {
    Function::from_typed(|| ())
}

without_creator!(Made, "safe.hooks.Made", i64);

#[test]
fn a_kept_object_is_not_made_anew() -> Result<()> {
    let kept = Made { value: 1, call: nothing()? }.into_arc()?;
    let value: &i64 = &kept.value;
    let hook = kept.clone();
    add_hook::<Made>("__ffi_new__", &Function::from_typed(move || hook.clone())?)?;
    let expected = in_use("The creator", "safe.hooks.Made");

    // Read by the fast path, and, for the blank in it, by the general one.
    for text in [
        r#"{"root_index":0,"nodes":[{"type":"safe.hooks.Made","data":{"value":7}}]}"#,
        r#"{ "root_index":0,"nodes":[{"type":"safe.hooks.Made","data":{"value":7}}]}"#,
    ] {
        assert_eq!(
            (error_of(from_json_graph_string(text.as_bytes())), *value),
            (expected.clone(), 1)
        );
    }
    let make = Function::global("ffi.MakeObjectFromPackedArgs")?;
    assert_eq!(error_of(make.call::<Any>(("safe.hooks.Made", "value", 7))), expected);
    let index = ObjectArc::<Made>::type_index();
    Function::global("ffi._RegisterFFIInit")?.call::<()>((index,))?;
    let init: Function = type_table::attr(index, b"__ffi_init__").get()?;
    assert_eq!((error_of(init.call::<Any>((7,))), *value), (expected, 1));
    Ok(())
}

frozen!(Other, "safe.hooks.Other");
without_creator!(Wrong, "safe.hooks.Wrong", i64);

#[test]
fn an_object_of_another_class_is_refused() -> Result<()> {
    let other = || Other { value: 1 }.into_arc();
    add_hook::<Wrong>("__ffi_shallow_copy__", &Function::from_typed(move |_: Any| other())?)?;
    add_hook::<Wrong>("__ffi_new__", &Function::from_typed(other)?)?;
    let wrong = || Wrong { value: 5, call: nothing()? }.into_arc();
    let mapped: Result<Any> = wrong()?.structural_map(WalkOrder::Pre, |number: i64| number + 1);
    assert!(error_of(mapped).starts_with("TypeError: Shallow copy callback must return"));
    assert_eq!(
        error_of(deep_copy(&wrong()?.into())),
        "TypeError: __ffi_shallow_copy__ of `safe.hooks.Wrong` made a value of type `safe.hooks.Other`"
    );
    let make = Function::global("ffi.MakeObjectFromPackedArgs")?;
    assert_eq!(
        error_of(make.call::<Any>(("safe.hooks.Wrong", "value", 7))),
        "InternalError: The creator of type `safe.hooks.Wrong` made an object of type `safe.hooks.Other`"
    );
    Ok(())
}

without_creator!(Named, "safe.hooks.Named", String);

#[test]
fn nobody_else_makes_objects_of_a_final_class() -> Result<()> {
    Named::register()?;
    let index = ObjectArc::<Named>::type_index();
    let register = Function::global("ffi._PyClassRegisterTypeAttrColumns")?;
    assert_eq!(
        error_of(register.call::<()>((index, 1024))),
        "ValueError: The type `safe.hooks.Named` is final: only its own code makes objects of it"
    );
    assert!(type_table::attr(index, b"__ffi_new__").is_none());
    assert_eq!(
        Named { value: String::new("a name")?, call: nothing()? }.into_arc()?.value,
        "a name"
    );
    Ok(())
}

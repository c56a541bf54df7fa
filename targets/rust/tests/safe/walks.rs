//! Callbacks of walks that keep what they get, and values that several threads change while they
//! are copied or reported.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ferrite::dataclass::deep_copy;
use ferrite::structural::WalkOrder;
use ferrite::type_table::NewTypeRequest;
use ferrite::{
    Any, AnyView, Array, Error, Function, List, Map, Object, ObjectArc, ObjectClass, Result,
    String, Structural, type_table,
};

fn array<const N: usize>(elements: [Any; N]) -> Result<Array<Any>> {
    Array::try_from_iter(elements)
}

/// Returns an array of an array of a string and a number.
fn nested() -> Result<Array<Any>> {
    array([array([String::new("a string that is not short")?.into(), Any::from(2i64)])?.into()])
}

/// Registers a hook of a class.
fn add_hook<T: Object>(name: &str, hook: &Function) -> Result<()> {
    T::register()?;
    type_table::register_attr(ObjectArc::<T>::type_index(), name.as_bytes(), AnyView::from(hook))
}

#[test]
fn an_array_that_a_callback_keeps_is_not_changed_in_place() -> Result<()> {
    static KEPT: Mutex<Option<&'static Array<Any>>> = Mutex::new(None);
    let kept = || KEPT.lock().expect("nobody panics").expect("an array");
    let keep = |array: &Array<Any>| {
        if array.len() == 2 {
            *KEPT.lock().expect("nobody panics") = Some(Box::leak(Box::new(array.clone())));
        }
        array.clone()
    };
    let mut read = None;
    let replace = |_: &str| {
        read = Some(kept().as_slice());
        5i64
    };
    let mapped: Array<Any> = nested()?.structural_map(WalkOrder::Pre, (keep, replace))?;
    assert_eq!(mapped.get(0)?.get::<Array<Any>>()?.get(0)?.get::<i64>()?, 5);
    let first: String = read.expect("a slice")[0].get()?;
    assert_eq!(first, "a string that is not short");
    Ok(())
}

#[test]
fn a_map_that_a_callback_keeps_is_not_changed_in_place() -> Result<()> {
    let mut kept = None;
    let mut inner = Map::<i64, Any>::new()?;
    inner.insert(1, 7i64.into())?;
    let keep = |map: &Map<i64, Any>| {
        kept = Some(map.clone());
        map.clone()
    };
    let mapped: Array<Any> =
        array([inner.into()])?.structural_map(WalkOrder::Pre, (keep, |number: i64| number + 1))?;
    assert_eq!(mapped.get(0)?.get::<Map<i64, Any>>()?.at(&1)?.get::<i64>()?, 8);
    assert_eq!(kept.expect("a map").at(&1)?.get::<i64>()?, 7);
    Ok(())
}

#[test]
fn threads_may_raise_one_error() -> Result<()> {
    let error = Error::new("ValueError", format_args!("no"));
    let raise = || -> Result<()> {
        let value = array([Any::from(1i64)])?;
        for _ in 0..3 {
            let raised = value
                .structural_walk(WalkOrder::Pre, |_: i64| -> Result<()> { Err(error.clone()) });
            let raised = raised.expect_err("the error");
            assert_eq!(raised.to_string(), "ValueError: no");
            assert!(raised.extra_context().is_some() && error.extra_context().is_none());
            let raised = value.clone().structural_mutate::<Any, _, _>(
                |_: i64, _: &mut ferrite::structural::Mutator| -> Result<i64> {
                    Err(error.clone())
                },
            );
            assert!(raised.expect_err("the error").extra_context().is_some());
        }
        Ok(())
    };
    thread::scope(|scope| {
        let other = scope.spawn(raise);
        raise()?;
        other.join().expect("no panic")
    })
}

#[derive(Object)]
#[object(key = "safe.walks.Node", structural = "tree")]
#[repr(C)]
struct Node {
    links: List<Any>,
    names: Array<Any>,
}

#[derive(Object)]
#[object(key = "safe.walks.Key")]
#[repr(C)]
struct Key {
    links: List<Any>,
    number: i64,
}

fn cycle_through(key: &str) -> std::string::String {
    format!(
        "RuntimeError: Cannot deep copy a cycle through an object of class `{key}`, which never changes"
    )
}

#[test]
fn a_copy_that_a_key_reaches_is_not_changed() -> Result<()> {
    static KEPT: Mutex<Option<&'static Array<Any>>> = Mutex::new(None);
    static IS_COPYING: AtomicBool = AtomicBool::new(false);
    let hash = |key: ObjectArc<Key>| -> Result<i64> {
        if let Ok(node) = key.links.get(0)?.get::<ObjectArc<Node>>()
            && IS_COPYING.swap(false, Ordering::Relaxed)
        {
            let node: &'static ObjectArc<Node> = Box::leak(Box::new(node));
            *KEPT.lock().expect("nobody panics") = Some(&node.names);
        }
        Ok(key.number)
    };
    let equal = |left: ObjectArc<Key>, right: ObjectArc<Key>| left.number == right.number;
    add_hook::<Key>("__any_hash__", &Function::from_typed(hash)?)?;
    add_hook::<Key>("__any_equal__", &Function::from_typed(equal)?)?;

    let links = List::<Any>::new()?;
    let node = Node { links: links.clone(), names: nested()? }.into_arc()?;
    links.push(node.clone().into())?;
    let mut map = Map::<Any, i64>::new()?;
    for number in 0..6 {
        map.insert(Key { links: links.clone(), number }.into_arc()?.into(), number)?;
    }
    links.push(map.into())?;

    IS_COPYING.store(true, Ordering::Relaxed);
    let copied = deep_copy(&node.clone().into()).map(drop);
    let kept = KEPT.lock().expect("nobody panics").map(Array::len);
    assert!(kept.is_none_or(|len| len == 1), "an array that is still there");
    assert_eq!(copied.expect_err("a cycle").to_string(), cycle_through("safe.walks.Node"));
    links.clear()?;
    let copied: ObjectArc<Node> = deep_copy(&node.into())?.get()?;
    assert_eq!(copied.names.len(), 1);
    Ok(())
}

#[derive(Object)]
#[object(key = "safe.walks.Back", no_copy)]
struct Back {
    array: Any,
}

#[test]
fn a_copy_is_not_changed_behind_its_creation() -> Result<()> {
    // The hook puts the array that is being copied in a field whose original is not copied.
    static WHOLE: Mutex<Option<Array<Any>>> = Mutex::new(None);
    let hook =
        |_: Any| Back { array: WHOLE.lock().expect("nobody panics").clone().into() }.into_arc();
    add_hook::<Back>("__ffi_shallow_copy__", &Function::from_typed(hook)?)?;
    let links = List::<Any>::new()?;
    let whole = array([Back { array: Any::NONE }.into_arc()?.into(), links.clone().into()])?;
    links.push(whole.clone().into())?;
    *WHOLE.lock().expect("nobody panics") = Some(whole.clone());
    let copied = deep_copy(&whole.into()).map(drop);
    WHOLE.lock().expect("nobody panics").take();
    assert_eq!(copied.expect_err("a cycle").to_string(), cycle_through("safe.walks.Back"));
    links.clear()
}

#[derive(Object)]
#[object(key = "safe.walks.Counter")]
#[repr(C)]
struct Counter {
    #[object(read_write)]
    value: Any,
}

#[test]
fn a_cycle_through_objects_that_change_is_copied() -> Result<()> {
    let counter = Counter { value: Any::NONE }.into_arc()?;
    counter.borrow_mut()?.value = array([counter.clone().into()])?.into();
    let copied: ObjectArc<Counter> = deep_copy(&counter.clone().into())?.get()?;
    let inside = copied.borrow()?.value.get::<Array<ObjectArc<Counter>>>()?.get(0)?;
    assert!(
        inside.as_object().ptr_eq(copied.as_object())
            && !copied.as_object().ptr_eq(counter.as_object())
    );
    for cycle in [copied, counter] {
        cycle.borrow_mut()?.value = Any::NONE;
    }
    Ok(())
}

#[test]
fn objects_that_change_are_borrowed_while_they_are_copied() -> Result<()> {
    Counter::register()?;
    let child = type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: b"safe.walks.Counter.Child",
        static_type_index: -1,
        type_depth: 2,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: ObjectArc::<Counter>::type_index(),
    })?;
    Function::global("ffi._PyClassRegisterTypeAttrColumns")?.call::<()>((child, 40))?;
    let make: Function = type_table::attr(child, b"__ffi_new__").get()?;
    let copy: Function = type_table::attr(child, b"__ffi_shallow_copy__").get()?;
    let counter: ObjectArc<Counter> = make.call(())?;
    thread::scope(|scope| {
        let writer = counter.clone();
        scope.spawn(move || {
            for number in 0..20 {
                if let Ok(mut counter) = writer.borrow_mut() {
                    counter.value = number.into();
                }
            }
        });
        for _ in 0..20 {
            // A RuntimeError while the writer has the object.
            let _ = copy.call::<Any>((&counter,));
        }
    });
    let borrowed = counter.borrow_mut()?;
    assert_eq!(copy.call::<Any>((&counter,)).map(drop).unwrap_err().kind_bytes(), b"RuntimeError");
    drop(borrowed);
    copy.call::<Any>((&counter,)).map(drop)
}

//! Callbacks of walks that keep what they get, and values that several threads change while they are copied or reported.

use std::sync::Mutex;
use std::thread;

use ferrite::structural::WalkOrder;
use ferrite::{Any, Array, Error, Map, Result, String, Structural};

fn array<const N: usize>(elements: [Any; N]) -> Result<Array<Any>> {
    Array::try_from_iter(elements)
}

/// Returns an array of an array of a string and a number.
fn nested() -> Result<Array<Any>> {
    array([array([String::new("a string that is not short")?.into(), Any::from(2i64)])?.into()])
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
            let raised = value.structural_walk(WalkOrder::Pre, |_: i64| -> Result<()> { Err(error.clone()) });
            let raised = raised.err().expect("the error");
            assert_eq!(raised.to_string(), "ValueError: no");
            assert!(raised.extra_context().is_some() && error.extra_context().is_none());
            let raised = value.clone().structural_mutate::<Any, _, _>(
                |_: i64, _: &mut ferrite::structural::Mutator| -> Result<i64> { Err(error.clone()) },
            );
            assert!(raised.err().expect("the error").extra_context().is_some());
        }
        Ok(())
    };
    thread::scope(|scope| {
        let other = scope.spawn(raise);
        raise()?;
        other.join().expect("no panic")
    })
}

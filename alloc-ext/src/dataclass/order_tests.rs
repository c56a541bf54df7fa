//! Tests of equality, order and hash: separately, together, and with hooks.

use ferrite_core::abi::{DLDataType, kTVMFFIFieldFlagBitMaskCompareOff};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::shape::Shape;
use ferrite_core::value::string::{Bytes, String};

use super::testing::{add_hook, array, big, int, list, message, pair, pair_type, part, set_part};
use super::{recursive_compare, recursive_eq, recursive_hash};
use crate::containers::{DictObject, ListObject, MapObject};

fn map(entries: &[(i64, Any)]) -> Result<Any> {
    let mut map = MapObject::with_capacity(0)?;
    for (key, value) in entries {
        map.insert(int(*key), value.clone())?;
    }
    Ok(Any::new(map))
}

#[test]
fn equal_values_have_equal_hashes() -> Result<()> {
    let index = pair_type("test.order.Plain", [0, i64::from(kTVMFFIFieldFlagBitMaskCompareOff)])?;
    let text = || String::new("longer than seven").map(Any::new);
    let values = || -> Result<[Any; 15]> {
        Ok([
            Any::NONE,
            Any::from(true),
            int(1),
            Any::from(1.0f64),
            Any::from(f64::NAN),
            text()?,
            Any::new(Bytes::new(b"longer than seven")?),
            Any::new(Shape::from_slice(&[1, 2])?),
            Any::new(DLDataType::parse(b"float32")?),
            big(1)?,
            array(&[int(1), text()?])?,
            list(&[int(1), text()?])?,
            map(&[(1, list(&[])?), (2, Any::NONE)])?,
            map(&[(1, list(&[])?)])?,
            pair(index, list(&[])?, Any::NONE)?,
        ])
    };
    let (left, right) = (values()?, values()?);
    for (i, lhs) in left.iter().enumerate() {
        for (j, rhs) in right.iter().enumerate() {
            assert_eq!(recursive_eq(lhs, rhs)?, i == j, "{i} {j}");
            assert_eq!(recursive_hash(lhs)? == recursive_hash(rhs)?, i == j, "{i} {j}");
        }
    }
    Ok(())
}

#[test]
fn fields_that_are_not_compared_do_not_count() -> Result<()> {
    let index = pair_type("test.order.Half", [0, i64::from(kTVMFFIFieldFlagBitMaskCompareOff)])?;
    let (one, two) = (pair(index, int(1), int(1))?, pair(index, int(1), int(2))?);
    assert!(recursive_eq(&one, &two)?);
    assert_eq!(recursive_hash(&one)?, recursive_hash(&two)?);
    assert!(recursive_eq(&Any::from(0.0f64), &Any::from(-0.0f64))?);
    assert_eq!(recursive_hash(&Any::from(0.0f64))?, recursive_hash(&Any::from(-0.0f64))?);
    let (one, two) = (map(&[(1, int(1)), (2, int(2))])?, map(&[(2, int(2)), (1, int(1))])?);
    assert!(recursive_eq(&one, &two)?);
    assert_eq!(recursive_hash(&one)?, recursive_hash(&two)?);
    Ok(())
}

#[test]
fn values_have_the_order_of_their_first_difference() -> Result<()> {
    let index = pair_type("test.order.Ordered", [0, 0])?;
    for (less, more) in [
        (Any::NONE, int(i64::MIN)),
        (Any::from(false), Any::from(true)),
        (int(-1), int(1)),
        (big(-1)?, int(i64::MIN)),
        (int(i64::MAX), big(1)?),
        (Any::from(-0.5f64), Any::from(0.0f64)),
        (Any::new(String::new("ab")?), Any::new(String::new("b")?)),
        (Any::new(Shape::from_slice(&[1, 2])?), Any::new(Shape::from_slice(&[1, 3])?)),
        (array(&[int(1)])?, array(&[int(1), Any::NONE])?),
        (list(&[int(1), int(9)])?, list(&[int(2)])?),
        (pair(index, int(1), list(&[])?)?, pair(index, int(1), list(&[int(0)])?)?),
    ] {
        assert!(recursive_compare(&less, &more)? < 0);
        assert!(recursive_compare(&more, &less)? > 0);
        assert_eq!(recursive_compare(&less, &less.clone())?, 0);
    }
    Ok(())
}

#[test]
fn values_without_an_order_are_refused() -> Result<()> {
    let order = |lhs: &Any, rhs: &Any| message(recursive_compare(lhs, rhs));
    assert_eq!(
        order(&int(1), &Any::from(1.0f64)),
        "Cannot compare values of different types: int vs float"
    );
    assert_eq!(
        order(&array(&[])?, &list(&[])?),
        "Cannot compare values of different types: ffi.Array vs ffi.List"
    );
    assert_eq!(order(&Any::from(f64::NAN), &Any::from(1.0f64)), "Cannot order NaN values");
    let (one, two) = (map(&[(1, int(1))])?, map(&[(1, int(2))])?);
    assert_eq!(order(&one, &two), "Cannot order Map/Dict values");
    assert_eq!(order(&one, &map(&[])?), "Cannot order Map/Dict values");
    assert_eq!(order(&one, &map(&[(2, int(1))])?), "Cannot order Map/Dict values");
    assert_eq!(order(&one, &map(&[(1, int(1))])?), "no error");
    Ok(())
}

#[test]
fn cycles_are_equal_when_they_run_alike() -> Result<()> {
    let cycle = || -> Result<ListObject> {
        let list = ListObject::with_capacity(0)?;
        list.push(Any::new(list.clone()))?;
        Ok(list)
    };
    let (one, two) = (cycle()?, cycle()?);
    let (lhs, rhs) = (Any::new(one.clone()), Any::new(two.clone()));
    assert!(recursive_eq(&lhs, &rhs)?);
    assert_eq!(recursive_hash(&lhs)?, recursive_hash(&rhs)?);
    assert_eq!(
        message(recursive_compare(&lhs, &rhs)),
        "RecursiveCompare: cyclic reference detected in ordering"
    );
    two.push(int(1))?;
    assert!(!recursive_eq(&lhs, &rhs)?);
    one.clear()?;
    two.clear()?;
    let dict = DictObject::with_capacity(0)?;
    dict.insert(int(1), Any::new(dict.clone()))?;
    recursive_hash(&Any::new(dict.clone()))?;
    dict.clear()?;
    Ok(())
}

#[test]
fn hooks_decide_and_may_ask_back() -> Result<()> {
    let index = pair_type("test.order.Hooked", [0, 0])?;
    let first = |value: &Any| part(value, 0);
    let equal = Function::from_typed(move |lhs: Any, rhs: Any, equal: Function| {
        equal.call_packed(&[first(&lhs).view(), first(&rhs).view()])
    })?;
    add_hook(index, "__ffi_eq__", &equal)?;
    let (one, two) =
        (pair(index, list(&[int(1)])?, int(1))?, pair(index, list(&[int(1)])?, int(2))?);
    assert!(recursive_eq(
        &list(core::slice::from_ref(&one))?,
        &list(core::slice::from_ref(&two))?
    )?);
    assert!(
        message(recursive_hash(&one))
            .starts_with("RecursiveHash: type 'test.order.Hooked' defines")
    );
    let compare = Function::from_typed(move |lhs: Any, rhs: Any, compare: Function| {
        compare.call_packed(&[part(&rhs, 1).view(), part(&lhs, 1).view()])
    })?;
    add_hook(index, "__ffi_compare__", &compare)?;
    assert!(recursive_compare(&one, &two)? > 0, "the hook turns the order round");
    let hash = Function::from_typed(move |value: Any, hash: Function| {
        hash.call_packed(&[first(&value).view()])
    })?;
    add_hook(index, "__ffi_hash__", &hash)?;
    assert_eq!(recursive_hash(&one)?, recursive_hash(&two)?);
    assert_eq!(recursive_hash(&one)?, recursive_hash(&list(&[int(1)])?)?);
    // A hook that asks for its own object again finds it equal, and hashed as its type.
    set_part(&one, 0, one.clone());
    set_part(&two, 0, two.clone());
    assert!(recursive_eq(&one, &two)?);
    assert_eq!(recursive_hash(&one)?, recursive_hash(&two)?);
    set_part(&one, 0, Any::NONE);
    set_part(&two, 0, Any::NONE);
    Ok(())
}

#[test]
fn errors_of_hooks_come_out() -> Result<()> {
    let index = pair_type("test.order.Refuses", [0, 0])?;
    for column in ["__ffi_eq__", "__ffi_compare__", "__ffi_hash__"] {
        let hook = Function::from_packed(|_: &[AnyView<'_>]| -> Result<Any> {
            Err(ferrite_core::error!(ValueError, "no answer"))
        })?;
        add_hook(index, column, &hook)?;
    }
    let (one, two) = (pair(index, Any::NONE, Any::NONE)?, pair(index, Any::NONE, Any::NONE)?);
    assert_eq!(message(recursive_eq(&one, &two)), "no answer");
    assert_eq!(message(recursive_compare(&one, &two)), "no answer");
    assert_eq!(message(recursive_hash(&one)), "no answer");
    Ok(())
}

#[test]
fn hooks_may_shorten_the_lists_that_are_walked() -> Result<()> {
    let (hooked, plain) =
        (pair_type("test.order.Pops", [0, 0])?, pair_type("test.order.Left", [0, 0])?);
    let other = pair_type("test.order.Right", [0, 0])?;
    let shortened = ListObject::with_capacity(0)?;
    let (of_equal, of_compare) = (shortened.clone(), shortened.clone());
    let equal = Function::from_typed(move |_: Any, _: Any, _: Any| {
        of_equal.pop().map(|value| value.is_some())
    })?;
    let compare =
        Function::from_typed(move |_: Any, _: Any, _: Any| of_compare.pop().map_or(0, |_| 0i64))?;
    add_hook(hooked, "__ffi_eq__", &equal)?;
    add_hook(hooked, "__ffi_compare__", &compare)?;
    let pops = || pair(hooked, Any::NONE, Any::NONE);
    // Objects of two types, numbers, and an element that was removed.
    let cases = [
        (pair(plain, int(1), int(2))?, Some(pair(other, int(1), int(2))?), "not equal"),
        (int(1), Some(int(2)), "not equal"),
        (int(1), None, "Index 1 out of bounds 1"),
    ];
    for (left, right, outcome) in cases {
        for compare in [false, true] {
            shortened.clear()?;
            for element in [Some(pops()?), right.clone(), Some(int(0))].into_iter().flatten() {
                shortened.push(element)?;
            }
            let (lhs, rhs) = (list(&[pops()?, left.clone(), int(0)])?, Any::new(shortened.clone()));
            let unequal = match compare {
                false => recursive_eq(&lhs, &rhs).map(|equal| !equal),
                true => recursive_compare(&lhs, &rhs).map(|order| order != 0),
            };
            match unequal {
                Ok(unequal) => assert!(unequal && outcome == "not equal"),
                // Values of two types have no order.
                Err(error) if compare && outcome == "not equal" => {
                    assert_eq!(error.kind_bytes(), b"TypeError")
                }
                Err(error) => assert_eq!(error.message_bytes(), outcome.as_bytes()),
            }
        }
    }
    Ok(())
}

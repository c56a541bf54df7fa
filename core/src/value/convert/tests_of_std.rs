//! Tests of calls with types of Rust's libraries.

use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{assert_eq, vec};

use crate::abi::type_index;
use crate::call::function::Function;
use crate::error::{ErrorKind, Result};
use crate::{Any, call};

fn text_of<T>(outcome: Result<T>) -> String {
    outcome.err().map_or_else(String::new, |error| error.to_string())
}

fn greet(name: String) -> String {
    format!("hello {name}")
}

fn parse(text: &str) -> Result<i64> {
    Ok(text.parse::<i64>()?)
}

fn maybe(x: Option<i64>) -> Result<i64> {
    x.ok_or_else(|| crate::error!(ValueError, "none given"))
}

#[test]
fn texts_are_parameters_and_results() -> Result<()> {
    let greet = Function::from_typed(greet)?;
    assert_eq!(greet.call::<String>(("a world of its own",))?, "hello a world of its own");
    assert_eq!(greet.call::<crate::String>((String::from("you"),))?, "hello you");
    assert_eq!(&*greet.call::<Box<str>>((&String::from("me"),))?, "hello me");
    assert_eq!(
        text_of(greet.call::<String>((1,))),
        "TypeError: Mismatched type on argument #0 when calling: `(0: str) -> str`. Expected `str` but got `int`"
    );
    let parse = Function::from_typed(parse)?;
    assert_eq!(parse.call::<i64>(("-7",))?, -7);
    assert_eq!(text_of(parse.call::<i64>(("x1",))), "ValueError: invalid digit found in string");
    let not_utf8 = crate::String::from_bytes(b"\xff\xfe")?;
    assert_eq!(parse.call::<i64>((&not_utf8,)).unwrap_err().kind(), ErrorKind::ValueError);
    let next = Function::from_typed(|letter: char| char::from_u32(letter as u32 + 1))?;
    assert_eq!(next.call::<Option<char>>(('a',))?, Some('b'));
    assert_eq!(
        text_of(next.call::<char>(("ab",))),
        "ValueError: expected a string of one character, got `ab`"
    );
    Ok(())
}

#[test]
fn options_of_any_type_are_parameters() -> Result<()> {
    let maybe = Function::from_typed(maybe)?;
    assert_eq!(maybe.call::<i64>((Some(3),))?, 3);
    assert_eq!(text_of(maybe.call::<i64>((None::<i64>,))), "ValueError: none given");
    let len = Function::from_typed(|text: Option<&str>| text.map(str::len).map(|len| len as i64))?;
    assert_eq!(len.call::<Option<i64>>(("abc",))?, Some(3));
    assert_eq!(len.call::<Option<i64>>((Any::NONE,))?, None);
    Ok(())
}

#[test]
fn vectors_are_arrays_and_bytes() -> Result<()> {
    let total = Function::from_typed(|xs: Vec<f64>| xs.iter().sum::<f64>())?;
    assert_eq!(total.call::<f64>((vec![1.0, 2.5],))?, 3.5);
    assert_eq!(total.call::<f64>((&[1, 2, 3],))?, 6.0);
    assert_eq!(total.call::<f64>((&vec![0.5f32],))?, 0.5);
    assert_eq!(
        text_of(total.call::<f64>((("x", 1),))),
        "TypeError: Mismatched type on argument #0 when calling: `(0: Array<float>) -> float`. Expected `Array<float>` but got \
         `Array[index 0: ffi.SmallStr]`"
    );
    let flip =
        Function::from_typed(|bytes: &[u8]| bytes.iter().rev().copied().collect::<Vec<u8>>())?;
    let flipped: Any = flip.call((vec![1u8, 2, 3],))?;
    assert_eq!(flipped.type_index(), type_index::SMALL_BYTES);
    assert_eq!(flipped.get::<Vec<u8>>()?, [3, 2, 1]);
    assert_eq!(Any::try_new(vec![1i64, 2])?.get::<Vec<u8>>()?, [1, 2]);
    assert!(Any::try_new(vec![300i64])?.get::<Vec<u8>>().is_err());
    Ok(())
}

#[test]
fn tuples_are_arrays_of_their_length() -> Result<()> {
    let swap = Function::from_typed(|(a, b): (i64, String)| (b, a))?;
    assert_eq!(
        swap.call::<(String, i64)>(((1, "one and more"),))?,
        ("one and more".to_string(), 1)
    );
    assert!(
        text_of(swap.call::<Any>(((1, "x", 2),)))
            .ends_with("Expected `Tuple<int, str>` but got `Array[size=3]`")
    );
    assert!(
        text_of(swap.call::<Any>(((1, 2),)))
            .ends_with("Expected `Tuple<int, str>` but got `Array[index 1: int]`")
    );
    Ok(())
}

#[test]
fn objects_are_viewed_and_not_copied() -> Result<()> {
    let count = Function::from_typed(|object: crate::ObjectRef| i64::from(object.strong_count()))?;
    let shape = crate::Shape::from_slice(&[1])?;
    assert_eq!(count.call::<i64>((&shape,))?, 2);
    assert_eq!(count.call::<i64>((shape.clone(),))?, 3);
    assert_eq!(shape.as_object_count(), 1);
    Ok(())
}

impl crate::Shape {
    fn as_object_count(&self) -> u32 {
        crate::ObjectClass::as_object(self).strong_count()
    }
}

#[test]
fn registered_functions_are_called_by_name() -> Result<()> {
    Function::register("test.values.greet", greet)?;
    let greeting: String = call!("test.values.greet", "you")?;
    assert_eq!(greeting, "hello you");
    assert_eq!(
        text_of(call!("test.values.greet", "a", "b") as Result<String>),
        "TypeError: Mismatched number of arguments when calling: `test.values.greet(0: str) -> str`. Expected 1 but got 2 arguments"
    );
    assert_eq!(
        text_of(Function::global("test.values.none")),
        "ValueError: Function test.values.none not found"
    );
    assert_eq!(
        Function::register("test.values.greet", greet).unwrap_err().kind(),
        ErrorKind::RuntimeError
    );
    Ok(())
}

#[test]
fn values_of_an_array_survive_their_builder() -> Result<()> {
    let held = crate::Shape::from_slice(&[4])?;
    let array = Any::try_new(vec![held.clone(), held.clone()])?;
    assert_eq!(held.as_object_count(), 3);
    drop(array);
    assert_eq!(held.as_object_count(), 1);
    Ok(())
}

#[test]
fn functions_have_up_to_twelve_parameters() -> Result<()> {
    type B = u8;
    #[allow(clippy::too_many_arguments, reason = "the largest number that there is")]
    fn sum(a: B, b: B, c: B, d: B, e: B, f: B, g: B, h: B, i: B, j: B, k: B, l: i64) -> i64 {
        [a, b, c, d, e, f, g, h, i, j, k].map(i64::from).iter().sum::<i64>() + l
    }
    let args = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    assert_eq!(Function::from_typed(sum)?.call::<i64>(args)?, 78);
    Ok(())
}

//! Round-trip tests of parser and writer. The expected results are upstream's.

use std::string::{String, ToString};

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::shape::Shape;

use super::writer::small as small_writer;
use super::{parse, stringify};
use crate::containers::{Array, ArrayObject, Dict, ListObject, Map, MapObject};

fn text_of(value: &Any, indent: Option<i64>) -> Result<String> {
    Ok(stringify(value, indent)?.to_string())
}

fn error_of(text: &str) -> String {
    match parse(text.as_bytes()) {
        Ok(value) => panic!("{text:?} is {value:?}"),
        Err(error) => {
            assert_eq!(error.kind_bytes(), b"ValueError");
            String::from_utf8_lossy(error.message_bytes()).into_owned()
        }
    }
}

#[test]
fn values_have_the_types_of_the_table() -> Result<()> {
    let value = parse(b" [null, true, false, -7, 1e3, NaN, \"small\", \"not so small\", [], {}] ")?;
    let types: std::vec::Vec<_> =
        value.get::<ArrayObject>()?.as_slice().iter().map(|element| element.type_index()).collect();
    use type_index::{ARRAY, BOOL, FLOAT, INT, MAP, NONE, SMALL_STR, STR};
    assert_eq!(types, [NONE, BOOL, BOOL, INT, FLOAT, FLOAT, SMALL_STR, STR, ARRAY, MAP]);
    Ok(())
}

#[test]
fn parsed_texts_are_written_again() -> Result<()> {
    for text in [
        "null",
        "-9223372036854775808",
        r#"[1,[2,[],{}],"a\/\"b\\\n\u0001",true,{"k":{"l":[false]},"":null}]"#,
        "[0.10000000000000001,1.0,-Infinity,NaN,1e+20]",
        r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":{"g":[6]}}"#,
        "\"\u{e9}\u{1f600}\"",
    ] {
        assert_eq!(text_of(&parse(text.as_bytes())?, None)?, text);
    }
    Ok(())
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (text, message) in [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        (" \n ", "Expecting value: line 2 column 2 (char 3)"),
        ("nul", "Expecting value: line 1 column 1 (char 0)"),
        ("[1,x]", "Expecting value: line 1 column 4 (char 3)"),
        ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
        ("[", "Expecting value: line 1 column 2 (char 1)"),
        ("[1", "Expecting ',' delimiter: line 1 column 3 (char 2)"),
        ("[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
        ("\n\n [1,\n", "Syntax error near: line 4 column 1 (char 7)"),
        ("{\"a\":1,", "Syntax error near: line 1 column 8 (char 7)"),
        ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (
            "{\"a\":1,}",
            "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)",
        ),
        ("{1:2}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("{\"a\" 1}", "Expecting ':' delimiter: line 1 column 6 (char 5)"),
        ("{\"a\":}", "Expecting value: line 1 column 6 (char 5)"),
        ("{\"a\":1]", "Expecting ',' delimiter: line 1 column 7 (char 6)"),
        ("[1]\n]", "Extra data: line 2 column 1 (char 4)"),
        ("Infinity1", "Extra data: line 1 column 9 (char 8)"),
        ("\"abc", "Unterminated string starting at: line 1 column 1 (char 0)"),
        ("[\"a\\n", "Unterminated string starting at: line 1 column 2 (char 1)"),
        ("\"a\tb\"", "Invalid control character at: line 1 column 3 (char 2)"),
        ("\"\\", "Invalid \\escape: line 1 column 3 (char 2)"),
        ("\"\\x\"", "Invalid \\escape: line 1 column 3 (char 2)"),
        ("\"\\u12\"", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
        ("\"\\ud800x\"", "Invalid surrogate pair of \\uXXXX escapes: line 1 column 3 (char 2)"),
        ("\"\\ud800\\u12\"", "Invalid \\uXXXX escape: line 1 column 10 (char 9)"),
        (
            "\"\\ud800\\u0041\"",
            "Invalid surrogate pair of \\uXXXX escapes: line 1 column 10 (char 9)",
        ),
        ("\"\\udc00\"", "Invalid surrogate pair of \\uXXXX escapes: line 1 column 3 (char 2)"),
        ("[1e400]", "Expecting value: line 1 column 2 (char 1)"),
        ("[5e-324]", "Expecting value: line 1 column 2 (char 1)"),
    ] {
        assert_eq!(error_of(text), message, "{text:?}");
    }
}

#[test]
fn the_last_value_of_a_key_stays() -> Result<()> {
    let map = parse(br#"{"a": 1, "b": 2, "a": 3}"#)?;
    assert_eq!(text_of(&map, None)?, r#"{"a":3,"b":2}"#);
    // Like upstream: inserting into a larger table moves the key to the end.
    let map = parse(br#"{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "a": 6}"#)?;
    assert_eq!(text_of(&map, None)?, r#"{"b":2,"c":3,"d":4,"e":5,"a":6}"#);
    Ok(())
}

#[test]
fn empty_containers_have_upstreams_capacity() -> Result<()> {
    assert_eq!(parse(b"[]")?.get::<ArrayObject>()?.capacity(), 4);
    assert_eq!(parse(b"[1]")?.get::<ArrayObject>()?.capacity(), 1);
    Ok(())
}

#[test]
fn lines_are_indented() -> Result<()> {
    let value = parse(br#"[1, {"a": [], "b": {}}]"#)?;
    let expected = "[\n  1,\n  {\n    \"a\": [\n    ],\n    \"b\": {\n    }\n  }\n]";
    assert_eq!(text_of(&value, Some(2))?, expected);
    let expected = "[\n1,\n{\n\"a\": [\n],\n\"b\": {\n}\n}\n]";
    assert_eq!(text_of(&value, Some(-1))?, expected);
    assert_eq!(text_of(&value, Some(i64::MIN))?, expected);
    assert_eq!(text_of(&value, Some(0))?, r#"[1,{"a":[],"b":{}}]"#);
    Ok(())
}

#[test]
fn the_writer_of_boards_answers_the_same() -> Result<()> {
    let outcome = |text: Result<ferrite_core::value::string::String>| match text {
        Ok(text) => (std::vec![], text.as_bytes().to_vec()),
        Err(error) => (error.kind_bytes().to_vec(), error.message_bytes().to_vec()),
    };
    let value = parse(
        br#" [null, true, -7, 1.5e300, -0.0, "a\"b", {"a": [[], {"key of a map": [1, 2]}]}, {}] "#,
    )?;
    let list = ListObject::with_capacity(2)?;
    list.push(value)?;
    list.push(Any::new(ListObject::with_capacity(0)?))?;
    let list = Any::new(list);
    let refused =
        Any::new(Array::from_slice(&[Any::new(Shape::from_slice(&[1])?)])?.into_untyped());
    for value in [&Any::NONE, &list, &refused] {
        for indent in [None, Some(0), Some(1), Some(3), Some(-1), Some(i64::MIN)] {
            let other = small_writer::stringify(value, indent);
            assert_eq!(outcome(stringify(value, indent)), outcome(other));
        }
    }
    let mut out = Buffer::new();
    small_writer::write(&mut out, &list)?;
    assert_eq!(out.as_slice(), text_of(&list, None)?.as_bytes());
    Ok(())
}

#[test]
fn values_without_a_json_form_are_refused() -> Result<()> {
    let message = |value: Any| {
        let error = stringify(&value, None).expect_err("not JSON");
        assert_eq!(error.kind_bytes(), b"ValueError");
        String::from_utf8_lossy(error.message_bytes()).into_owned()
    };
    assert_eq!(message(Any::new(Shape::from_slice(&[1])?)), "Unsupported type: `ffi.Shape`");
    let dict = Dict::<i64, i64>::new()?;
    assert_eq!(message(Any::new(dict.into_untyped())), "Unsupported type: `ffi.Dict`");
    let mut map = Map::<i64, i64>::new()?;
    map.insert(1, 2)?;
    assert_eq!(message(Any::new(map.into_untyped())), "Expect key to be string, got `int`");
    Ok(())
}

#[test]
fn lists_are_written_unless_they_are_inside_themselves() -> Result<()> {
    let inner = ListObject::with_capacity(0)?;
    inner.push(1i64.into())?;
    let outer = ListObject::with_capacity(2)?;
    outer.push(Any::new(inner.clone()))?;
    outer.push(Any::new(inner.clone()))?;
    assert_eq!(text_of(&Any::new(outer.clone()), None)?, "[[1],[1]]");
    inner.push(Any::new(Array::from_slice(&[Any::new(outer.clone())])?.into_untyped()))?;
    let error = stringify(&Any::new(outer), None).expect_err("a cycle");
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (&b"ValueError"[..], &b"Cycle detected: List contains itself"[..])
    );
    inner.clear()?;
    Ok(())
}

#[test]
fn depth_is_limited_by_memory_only() -> Result<()> {
    let depth = if cfg!(all(feature = "std", not(miri))) { 300_000 } else { 50 };
    let text = "[{\"k\":".repeat(depth) + "1" + &"}]".repeat(depth);
    let value = parse(text.as_bytes())?;
    assert_eq!(text_of(&value, None)?, text);
    drop(value);
    assert!(parse("[".repeat(depth).as_bytes()).is_err());

    let mut list = ListObject::with_capacity(1)?;
    for _ in 0..depth {
        list = ListObject::from_slice(&[Any::new(list)])?;
    }
    assert_eq!(text_of(&Any::new(list), None)?.len(), 2 * (depth + 1));
    Ok(())
}

#[test]
fn values_are_released_when_the_text_goes_wrong() -> Result<()> {
    let shared = parse(br#"{"a": ["a long string", {"b": "another long string"}]}"#)?;
    assert_eq!(shared.get::<MapObject>()?.len(), 1);
    // Miri and the sanitizers detect leaks.
    for text in [
        "[\"a long string\", [\"and one more\"], {\"some key\": [1,",
        "{\"some key\": \"a long string\"]",
    ] {
        error_of(text);
    }
    Ok(())
}

//! Properties of JSON parsing, for documents, near misses and arbitrary bytes.

use crate::support::{Library, Text, Transcript, Value, check};
use ferrite_tests::Outcome;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const NUMBERS: [&str; 44] = [
    "0",
    "-0",
    "01",
    "1.",
    "1e400",
    "5e-324",
    "2.2250738585072012e-308",
    "2.2250738585072014e-308",
    "NaN",
    "Infinity",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "-Infinity",
    "-NaN",
    "+1",
    ".5",
    "-.5",
    "1e",
    "1e+",
    "1E5",
    "1e-5",
    "0e999999",
    "0.0e-999999",
    "1e-400",
    "-",
    "+",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "4.9406564584124654e-324",
    "2.4703282292062327e-324",
    "123456789012345678",
    "12345678901234567890",
    "000000000000000000000000000001",
    "1-2",
    "1.2.3",
    "1e5e5",
    "--1",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "-0.0",
    "0.1",
    "9007199254740993",
];

/// Fragments of strings, inside and outside of quotes.
const PIECES: [&[u8]; 36] = [
    b"a",
    b"key",
    b" ",
    b"\\n",
    b"\\\"",
    b"\\\\",
    b"\\/",
    b"\\b",
    b"\\f",
    b"\\r",
    b"\\t",
    b"\\u0041",
    b"\\u00e9",
    b"\\u20AC",
    b"\\ud83d\\ude00",
    b"\\u0000",
    b"\\uD800\\uDC00",
    b"\\uDBFF\\uDFFF",
    b"\\uffff",
    b"\\x",
    b"\\u12",
    b"\\ud800",
    b"\\udc00",
    b"\\ud800\\u0041",
    b"\\",
    b"\\U0041",
    b"\n",
    b"\x00",
    b"\x1f",
    b"\x7f",
    "é".as_bytes(),
    "😀".as_bytes(),
    b"\xff",
    b"\xed\xa0\x80",
    b"/",
    b"'",
];

/// Tokens of the grammar.
const TOKENS: [&[u8]; 26] = [
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b",",
    b":",
    b"\\",
    b"u",
    b"0041",
    b" ",
    b"\n",
    b"true",
    b"false",
    b"null",
    b"NaN",
    b"Infinity",
    b"-",
    b"1",
    b"0.5",
    b"e",
    b"\"k\"",
    b"tru",
    b"\xff",
    b"\t",
    b"\r",
];

fn numbers() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => select(NUMBERS.to_vec()).prop_map(|text| text.into()),
        3 => any::<i64>().prop_map(|number| number.to_string().into()),
        3 => any::<u64>().prop_map(|bits| format!("{:e}", f64::from_bits(bits)).into()),
        2 => (any::<u64>(), 0..800usize).prop_map(|(bits, digits)| format!("{:.*}", digits, f64::from_bits(bits)).into()),
        2 => (any::<u64>(), 0..30usize).prop_map(|(bits, digits)| format!("{:.*e}", digits, f64::from_bits(bits)).into()),
        // Subnormal numbers and the halfway points between them, in full.
        1 => (0..1u64 << 53, any::<bool>()).prop_map(|(bits, half)| {
            format!("{:.1074}{}", f64::from_bits(bits), if half { "5" } else { "" }).into()
        }),
        1 => "[0-9]{1,40}(\\.[0-9]{0,40})?([eE][-+]?[0-9]{1,4})?".prop_map(String::into_bytes),
        1 => "[-+.eE0-9]{1,12}".prop_map(String::into_bytes),
    ]
}

fn strings() -> impl Strategy<Value = Vec<u8>> {
    // Mostly the valid pieces, which are the first 19 without the bare backslash.
    let piece = prop_oneof![60 => select(PIECES[..19].to_vec()), 1 => select(PIECES.to_vec())];
    vec(piece, 0..9).prop_map(|pieces| [&b"\""[..], &pieces.concat(), b"\""].concat())
}

fn scalars() -> impl Strategy<Value = Vec<u8>> {
    let words = select(vec!["null", "true", "false", "NaN", "Infinity", "-Infinity"]);
    prop_oneof![1 => words.prop_map(|word| word.as_bytes().to_vec()), 2 => numbers(), 2 => strings()]
}

fn joined(parts: &[Vec<u8>], open: &[u8], close: &[u8]) -> Vec<u8> {
    [open, &parts.join(&b","[..]), close].concat()
}

fn documents() -> impl Strategy<Value = Vec<u8>> {
    let space = || select(vec!["", "", "", " ", "\n", "\t \r\n"]).prop_map(str::as_bytes);
    scalars().prop_recursive(6, 60, 8, move |inner| {
        let element = (space(), inner.clone(), space())
            .prop_map(|(before, value, after)| [before, &value, after].concat());
        let key = prop_oneof!["\"[a-c]\"".prop_map(String::into_bytes), strings()];
        let entry = (space(), key, space(), inner)
            .prop_map(|(before, key, after, value)| [before, &key, after, b":", &value].concat());
        prop_oneof![
            vec(element, 0..8).prop_map(|elements| joined(&elements, b"[", b"]")),
            vec(entry, 0..8).prop_map(|entries| joined(&entries, b"{", b"}")),
        ]
    })
}

/// Generates a document with a few bytes changed, added or removed.
fn changed() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => select(b"[]{}\",:\\ \n0e-.u".to_vec()), 1 => any::<u8>()];
    (documents(), vec((any::<Index>(), 0..4u8, byte), 1..4)).prop_map(|(mut text, edits)| {
        for (at, what, byte) in edits {
            let at = at.index(text.len() + 1);
            match what {
                0 => text.truncate(at),
                1 if at < text.len() => drop(text.remove(at)),
                2 if at < text.len() => text[at] = byte,
                _ => text.insert(at, byte),
            }
        }
        text
    })
}

/// Generates thousands of nesting levels, closed or not.
fn deep() -> impl Strategy<Value = Vec<u8>> {
    let level = select(vec![
        ("[", "]"),
        ("{\"a\":", "}"),
        ("[1,", "]"),
        ("{\"b\":[],\"c\":", ",\"d\":null}"),
    ]);
    (vec(level, 1..4), 0..4000usize, any::<bool>()).prop_map(|(levels, depth, closed)| {
        let levels: Vec<_> = levels.iter().cycle().take(depth).collect();
        let mut text: String = levels.iter().map(|level| level.0).collect();
        text.push('0');
        if closed {
            text.extend(levels.iter().rev().map(|level| level.1));
        }
        text.into_bytes()
    })
}

fn texts() -> impl Strategy<Value = Text> {
    let soup = vec(select(TOKENS.to_vec()), 0..25).prop_map(|tokens| tokens.concat());
    let bytes = vec(any::<u8>(), 0..40);
    prop_oneof![8 => documents(), 6 => changed(), 3 => scalars(), 3 => soup, 1 => bytes, 1 => deep()]
        .prop_map(Text)
}

fn observe(library: &'static Library, text: &Text, seen: &mut Transcript) {
    let parsed = library.call("ffi.json.Parse", &[&Value::string(library, &text.0)]);
    seen.result("parse", &parsed);
    if let Ok(value) = parsed {
        seen.result(
            "stringify",
            &library.call("ffi.json.Stringify", &[&value, &Value::none(library)]),
        );
    }
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn parsing_json() -> Outcome<()> {
    check("json_parse", 10_000, texts, observe)
}

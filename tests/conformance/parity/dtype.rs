//! Properties of data type strings: parsing and printing.

use crate::support::{Library, Text, Transcript, check};
use ferrite_core::abi::{DLDataType, TVMFFIByteArray};
use ferrite_tests::Outcome;
use proptest::prelude::*;

/// Type names, with and without numbers after them, and strings that resemble names.
const NAMES: [&str; 40] = [
    "int",
    "uint",
    "float",
    "bfloat",
    "bool",
    "complex",
    "handle",
    "void",
    "opaque",
    "bits",
    "float8_e4m3fn",
    "float8_e4m3",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3b11fnuz",
    "float8_e3m4",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
    "float4_e2m1fnx2",
    "custom[thing]",
    "custom[",
    "custom[]",
    "custom",
    "e4m3_float8",
    "float8_e4m3_float",
    "Float",
    "INT",
    "in",
    "intx",
    "float_",
    "",
    "bool8",
    "uint1",
    "float8_",
    "float6",
    "float4",
    "None",
];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(String::new()),
        6 => prop::sample::select(vec!["1", "2", "4", "8", "16", "32", "64", "128", "255", "256", "0", "65535", "65536"])
            .prop_map(String::from),
        2 => any::<u64>().prop_map(|number| number.to_string()),
        1 => (0u32..300).prop_map(|number| format!("0{number}")),
        1 => any::<i32>().prop_map(|number| number.to_string()),
        1 => Just("99999999999999999999999".to_string()),
    ]
}

/// Generates strings of the grammar, and near misses.
fn near() -> impl Strategy<Value = Vec<u8>> {
    let name = prop::sample::select(NAMES.to_vec());
    let between = prop::sample::select(vec!["x", "", "_", "xx", " x", "X"]);
    (name, number(), between, number())
        .prop_map(|(name, bits, between, lanes)| format!("{name}{bits}{between}{lanes}").into())
}

/// Generates a string with a few bytes changed, added or removed.
fn changed() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), 0..3u8, any::<u8>());
    (near(), prop::collection::vec(edit, 1..4)).prop_map(|(mut text, edits)| {
        for (at, what, byte) in edits {
            let at = at.index(text.len() + 1);
            match what {
                0 => text.insert(at, byte),
                1 if at < text.len() => text[at] = byte,
                _ => text.truncate(at),
            }
        }
        text
    })
}

fn texts() -> impl Strategy<Value = Text> {
    prop_oneof![6 => near(), 3 => changed(), 1 => prop::collection::vec(any::<u8>(), 0..40)]
        .prop_map(Text)
}

fn observe_text(library: &'static Library, text: &Text, seen: &mut Transcript) {
    // Upstream reads up to two bytes beyond the end to find the bracket of `custom[`.
    let padded = [&text.0[..], &[0, 0]].concat();
    let bytes = TVMFFIByteArray::from_slice(&padded[..text.0.len()]);
    let mut dtype = DLDataType { code: 7, bits: 7, lanes: 7 };
    // SAFETY: both live through the call.
    let status = unsafe { (library.symbols.dtype_from_string)(&raw const bytes, &raw mut dtype) };
    let parsed = library.status(status).map(|()| format!("{dtype:?}"));
    seen.result("parse", &parsed);
    if parsed.is_ok() {
        observe_dtype(library, &dtype, seen);
    }
}

fn observe_dtype(library: &'static Library, dtype: &DLDataType, seen: &mut Transcript) {
    // SAFETY: both live through the call.
    let text = library.value(|out| unsafe { (library.symbols.dtype_to_string)(dtype, out) });
    seen.result("print", &text);
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn texts_of_data_types() -> Outcome<()> {
    check("dtype_text", 20_000, texts, observe_text)
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn data_types_of_every_code() -> Outcome<()> {
    let dtypes = (any::<u8>(), any::<u8>(), any::<u16>());
    let small = (0..20u8, prop::sample::select(vec![0u8, 1, 4, 6, 8, 16, 32, 64]), 0..5u16);
    let dtypes =
        prop_oneof![dtypes, small].prop_map(|(code, bits, lanes)| DLDataType { code, bits, lanes });
    check("dtype_print", 20_000, || dtypes, observe_dtype)
}

//! Data structures with the types of other crates, through values that other languages share.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use ferrite::serde::{from_value, to_value};
use ferrite::{Any, Array, Dict, Function, List, Map, Result, call};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Layer {
    name: String,
    shape: (u32, u32),
    activation: Option<Activation>,
    weights: BTreeMap<String, f32>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
enum Activation {
    Relu,
    Leaky(f64),
    Clamp { low: i8, high: i8 },
    Table(u8, u8),
}

fn layer(activation: Activation) -> Layer {
    Layer {
        name: "a dense layer".into(),
        shape: (3, 4),
        activation: Some(activation),
        weights: BTreeMap::from([("scale".into(), 0.5)]),
    }
}

#[test]
fn structs_and_enums_go_to_maps_and_back() -> Result<()> {
    for activation in [
        Activation::Relu,
        Activation::Leaky(0.5),
        Activation::Clamp { low: -1, high: 1 },
        Activation::Table(1, 2),
    ] {
        let layer = layer(activation);
        let value = to_value(&layer)?;
        assert_eq!(from_value::<Layer>(&value)?, layer);
        let map: Map<String, Any> = value.try_into()?;
        assert_eq!(map.at("shape")?.get::<(i64, i64)>()?, (3, 4));
        assert_eq!(map.at("weights")?.get::<Map<String, f64>>()?.at("scale")?, 0.5);
    }
    let clamp = to_value(&Activation::Clamp { low: -1, high: 1 })?;
    assert_eq!(clamp.get::<Map<String, Map<String, i64>>>()?.at("Clamp")?.at("high")?, 1);
    Ok(())
}

#[test]
fn what_a_struct_cannot_hold_is_refused() -> Result<()> {
    let text = |value: Any| from_value::<Layer>(&value).map(drop).unwrap_err().to_string();
    let mut map: Map<String, Any> = to_value(&layer(Activation::Relu))?.try_into()?;
    map.insert("shape".into(), Any::try_new((3, -4))?)?;
    assert_eq!(text(map.clone().into()), "OverflowError: Integer -4 is out of range for `u32`");
    map.insert("shape".into(), Any::try_new((3, 4))?)?;
    map.insert("activation".into(), Any::try_new(BTreeMap::from([("Relu", 1), ("Leaky", 2)]))?)?;
    assert_eq!(
        text(map.into()),
        "ValueError: a variant of an enum is a Map of one entry, not of 2"
    );
    assert_eq!(
        text(Any::try_new(BTreeMap::from([("name", "x")]))?),
        "ValueError: missing field `shape`"
    );
    assert_eq!(text(Any::from(1)), "TypeError: Expected struct Layer but got integer `1`");
    Ok(())
}

/// An enum whose variants nest without end in a Dict that contains itself.
#[derive(Deserialize, Debug)]
enum Chain {
    #[allow(dead_code, reason = "is never reached")]
    Next(Box<Chain>),
}

#[test]
fn containers_that_contain_themselves_are_refused() -> Result<()> {
    let list: List<Any> = List::new()?;
    list.push(list.clone().into())?;
    let value = Any::from(list.clone());
    let expected = "ValueError: the value is nested more than 128 levels deep";
    assert_eq!(to_value(&value).unwrap_err().to_string(), expected);
    assert_eq!(from_value::<Any>(&value).unwrap_err().to_string(), expected);
    list.clear()?;
    let dict: Dict<String, Any> = Dict::new()?;
    dict.insert("Next".into(), dict.clone().into())?;
    assert_eq!(from_value::<Chain>(&dict.clone().into()).unwrap_err().to_string(), expected);
    dict.clear()?;
    Ok(())
}

#[test]
fn containers_are_read_and_written_in_every_format() -> Result<()> {
    let json = r#"{"a":[1,2],"b":[]}"#;
    let map: Map<String, Array<i64>> = serde_json::from_str(json).expect("it is a map of arrays");
    assert_eq!(map.at("a")?.get(1)?, 2);
    assert_eq!(serde_json::to_string(&map).expect("it has a form"), json);
    let dict: Dict<String, List<i64>> = serde_json::from_str(json).expect("it is a dict of lists");
    assert_eq!(dict.at("a")?.len(), 2);
    assert_eq!(serde_json::to_string(&dict).expect("it has a form"), json);
    let error = serde_json::from_str::<Array<i64>>("[1, \"x\"]").unwrap_err();
    assert!(
        error.to_string().contains("Cannot convert from type `Array[index 1: ffi.SmallStr]`"),
        "{error}"
    );
    Ok(())
}

#[test]
fn types_of_several_crates_meet_in_one_call() -> Result<()> {
    fn scale(
        x: ndarray::ArrayView1<'_, half::f16>,
        by: half::f16,
        log: bytes::Bytes,
    ) -> ndarray::Array1<half::f16> {
        assert_eq!(&log[..], b"a log of some length");
        x.mapv(|value| value * by)
    }
    Function::register("test.interop.scale", scale)?;
    let x = ndarray::array![half::f16::ONE, half::f16::from_f32(2.0)];
    let log = bytes::Bytes::from_static(b"a log of some length");
    let scaled: ndarray::Array1<half::f16> = call!("test.interop.scale", x, 1.5, log)?;
    assert_eq!(scaled.mapv(f32::from), ndarray::array![1.5, 3.0]);
    Ok(())
}

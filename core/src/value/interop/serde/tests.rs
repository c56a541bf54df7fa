//! Tests of values without Maps, which ring 2 has; those with Maps are there.

use super::*;
use crate::abi::{DLDataType, DLDevice, type_index};
use crate::value::convert::IntoAny as _;
use crate::{Bytes, Shape, String, Tensor};
use std::string::ToString;
use std::vec::Vec;
use std::{assert_eq, vec};

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + core::fmt::Debug>(
    data: T,
) -> Result<Any> {
    let value = to_value(&data)?;
    assert_eq!(from_value::<T>(&value)?, data);
    Ok(value)
}

fn text<T>(outcome: Result<T>) -> std::string::String {
    outcome.err().map_or_else(Default::default, |error| error.to_string())
}

#[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
enum Layout {
    RowMajor,
    ColumnMajor,
}

#[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
struct Meters(f32);

#[test]
fn scalars_go_there_and_back() -> Result<()> {
    assert_eq!(round_trip(-5i8)?.get::<i64>()?, -5);
    assert_eq!(round_trip(1.5f32)?.get::<f64>()?, 1.5);
    assert_eq!(round_trip(true)?.type_index(), type_index::BOOL);
    assert_eq!(round_trip('é')?.get::<&str>()?, "é");
    assert_eq!(round_trip(None::<i64>)?.type_index(), type_index::NONE);
    assert_eq!(round_trip(Some(3u16))?.get::<i64>()?, 3);
    assert_eq!(round_trip(())?.type_index(), type_index::NONE);
    assert_eq!(round_trip(Layout::ColumnMajor)?.get::<&str>()?, "ColumnMajor");
    assert_eq!(round_trip(Meters(2.0))?.get::<f64>()?, 2.0);
    assert_eq!(
        round_trip((1u8, vec![None, Some("x".to_string())]))?.type_index(),
        type_index::ARRAY
    );
    assert_eq!(
        round_trip("127.0.0.1".parse::<core::net::Ipv4Addr>()?)?.get::<&str>()?,
        "127.0.0.1"
    );
    Ok(())
}

#[test]
fn integers_beyond_64_bits_are_big() -> Result<()> {
    assert_eq!(round_trip(u64::MAX)?.type_index(), type_index::BIG_INT);
    assert_eq!(round_trip(i128::MIN)?.type_index(), type_index::BIG_INT);
    assert_eq!(round_trip(i128::from(i64::MIN) - 1)?.type_index(), type_index::BIG_INT);
    assert_eq!(round_trip(i128::MAX as u128)?.type_index(), type_index::BIG_INT);
    assert_eq!(round_trip(7u64)?.type_index(), type_index::INT);
    assert_eq!(round_trip(i64::MIN as i128)?.type_index(), type_index::INT);
    assert!(
        text(to_value(&u128::MAX))
            .starts_with("OverflowError: Integer 340282366920938463463374607431768211455")
    );
    assert_eq!(
        serde_json::to_string(&to_value(&u64::MAX)?).ok().as_deref(),
        Some("18446744073709551615")
    );
    Ok(())
}

#[test]
fn numbers_are_checked() {
    assert_eq!(
        text(from_value::<u8>(&Any::from(300))),
        "OverflowError: Integer 300 is out of range for `u8`"
    );
    assert_eq!(
        text(from_value::<u64>(&Any::from(-1))),
        "OverflowError: Integer -1 is out of range for `u64`"
    );
    assert_eq!(
        text(from_value::<i32>(&Any::from(1.5))),
        "TypeError: Cannot convert from type `float` to `int`"
    );
    assert_eq!(from_value::<f64>(&Any::from(2)).ok(), Some(2.0));
}

#[test]
fn content_that_does_not_fit_is_refused() -> Result<()> {
    assert!(
        text(from_value::<Layout>(&Any::try_new("Diagonal")?))
            .starts_with("ValueError: unknown variant `Diagonal`")
    );
    assert_eq!(
        text(from_value::<Layout>(&Any::from(1))),
        "TypeError: Cannot convert from type `int` to `str`"
    );
    assert_eq!(
        text(from_value::<Vec<i64>>(&Any::from(1))),
        "TypeError: Expected a sequence but got integer `1`"
    );
    assert!(
        text(from_value::<(i64, i64)>(&Any::try_new([1, 2, 3])?))
            .starts_with("ValueError: invalid length 3")
    );
    let tensor = Any::from(Tensor::from_slice(&[1u8], &[1])?);
    assert_eq!(
        text(to_value(&tensor)),
        "ValueError: A value of type `ffi.Tensor` has no form in serde"
    );
    assert_eq!(
        text(from_value::<Any>(&tensor)),
        "TypeError: A value of type `ffi.Tensor` has no form in serde"
    );
    let not_utf8 = String::from_bytes(b"\xff")?;
    assert!(serde_json::to_string(&not_utf8).is_err());
    assert!(serde_json::to_string(&Any::from(not_utf8)).is_err());
    Ok(())
}

#[test]
fn values_that_are_nested_too_deep_are_refused() -> Result<()> {
    let mut value = Any::from(1);
    for _ in 0..128 {
        value = Any::try_new((value,))?;
    }
    assert!(serde_json::to_string(&value).is_ok());
    assert!(from_value::<Any>(&value).is_ok());
    value = Any::try_new((value,))?;
    assert!(serde_json::to_string(&value).is_err());
    assert_eq!(
        text(from_value::<Any>(&value)),
        "ValueError: the value is nested more than 128 levels deep"
    );
    Ok(())
}

#[test]
fn types_of_the_library_have_forms_of_their_own() -> Result<()> {
    let shape = Shape::from_slice(&[2, 3])?;
    let dtype = DLDataType::parse(b"bfloat16x4")?;
    let device = DLDevice::parse(b"cuda:1")?;
    let values: Any =
        (shape, dtype, device, Bytes::new(&[1, 255])?, String::new("x")?).try_into_any()?;
    let json = serde_json::to_string(&values).unwrap();
    assert_eq!(json, r#"[[2,3],"bfloat16x4","cuda:1",[1,255],"x"]"#);
    let back: (Shape, DLDataType, DLDevice, Bytes, String) = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (back.0.as_slice(), back.1, back.2, &*back.3),
        (&[2, 3][..], dtype, device, &[1, 255][..])
    );
    let same: (Shape, DLDataType, DLDevice, Bytes, String) = from_value(&values)?;
    assert_eq!(
        (same.0.as_slice(), same.1, same.2, same.3),
        (back.0.as_slice(), back.1, back.2, back.3)
    );
    assert!(serde_json::from_str::<DLDevice>("\"nothing\"").is_err());
    Ok(())
}

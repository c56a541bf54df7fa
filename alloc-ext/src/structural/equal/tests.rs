//! Tests of structural equality, hash and first mismatch of leaves and containers.

use core::slice::from_ref;

use ferrite_core::abi::type_index::{
    ARRAY, BIG_INT, ERROR, MAP, SHAPE, SMALL_BYTES, SMALL_STR, STR, TENSOR,
};
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIAnyPayload, kTVMFFIFieldFlagBitMaskSEqHashIgnore as IGNORE,
    kTVMFFISEqHashKindTreeNode as TREE,
};
use ferrite_core::error::Result;
use ferrite_core::tensor::Tensor;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::shape::Shape;
use ferrite_core::value::string::Bytes;

use super::testing::{USED, dict, difference, equal, map, text};
use super::{FUNCTIONS, structural_hash};
use crate::dataclass::testing::{array, big, int, list, node_type, pair};

#[test]
fn hashes_are_upstreams() -> Result<()> {
    let numbers = [int(1), int(2), text("x")?];
    let entries = [(text("a")?, int(1)), (text("b")?, array(&numbers[..2])?), (int(1), int(2))];
    let expected = [
        (Any::NONE, 2_654_435_769),
        (Any::from(true), 2_654_435_896),
        (int(1), 2_654_435_835),
        (Any::from(1.0), 4_607_182_421_454_453_370),
        (Any::from(f64::NAN), 9_221_120_239_695_526_522),
        (Any::from(-f64::NAN), 9_221_120_239_695_526_522),
        (Any::from(-0.0), -9_223_372_034_200_339_846),
        (Any::from(0.0), 2_654_435_962),
        (text("")?, 2_654_440_008),
        (text("abc")?, 2_660_953_131),
        (text("abcdefghijk")?, 3_880_220_895),
        (Any::new(Bytes::new(b"")?), 2_654_436_528),
        (Any::new(Bytes::new(b"abc")?), 2_660_949_777),
        (Any::new(Bytes::new(b"abcdefghijk")?), 3_880_220_828),
        (big(64)?, 2_654_440_898),
        (big(-64)?, 4_801_924_417),
        (Any::new(Shape::from_slice(&[1, 2])?), 284_796_581_919_864_599),
        (array(&numbers)?, -988_909_162_427_841_101),
        (list(&numbers[..2])?, -8_389_763_657_502_510_254),
        (map(&entries)?, -9_056_037_861_400_008_450),
        (dict(&[(int(1), int(2))])?, -7_274_365_588_688_873_859),
    ];
    for (place, (value, hash)) in expected.iter().enumerate() {
        // Small bytes are hashed as the word that they are stored in.
        if cfg!(target_endian = "little") || value.type_index() != SMALL_BYTES {
            assert_eq!(structural_hash(value, USED)? as i64, *hash, "{place}");
        }
    }
    Ok(())
}

#[test]
fn values_are_equal_by_type_and_content() -> Result<()> {
    let values = || -> Result<[Any; 16]> {
        Ok([
            Any::NONE,
            Any::from(true),
            int(1),
            Any::from(1.0),
            Any::from(f64::NAN),
            Any::from(0.0),
            Any::from(-0.0),
            text("longer than seven")?,
            Any::new(Bytes::new(b"longer than seven")?),
            Any::new(Shape::from_slice(&[1, 2])?),
            big(1)?,
            array(&[int(1), text("longer than seven")?])?,
            list(&[int(1), text("longer than seven")?])?,
            map(&[(int(1), list(&[])?), (int(2), Any::NONE)])?,
            dict(&[(int(1), list(&[])?), (int(2), Any::NONE)])?,
            Any::new(Tensor::from_slice(&[1.0f32, 2.0], &[2])?),
        ])
    };
    let (left, right) = (values()?, values()?);
    for (i, lhs) in left.iter().enumerate() {
        for (j, rhs) in right.iter().enumerate() {
            assert_eq!(equal(lhs, rhs, USED)?, i == j, "{i} {j}");
        }
    }
    Ok(())
}

#[test]
fn entries_have_no_order() -> Result<()> {
    let entries = |numbers: &[i64]| -> Result<Any> {
        let entries: std::vec::Vec<_> =
            numbers.iter().map(|number| (int(*number), int(-number))).collect();
        map(&entries)
    };
    assert!(equal(&entries(&[1, 2, 3, 4, 5, 6])?, &entries(&[6, 4, 2, 5, 3, 1])?, USED)?);
    assert!(!equal(&entries(&[1, 2])?, &entries(&[1, 3])?, USED)?);
    Ok(())
}

#[test]
fn containers_hash_alike_whatever_is_inside() -> Result<()> {
    let leaves = || -> Result<[Any; 5]> {
        let shape = Any::new(Shape::from_slice(&[1, 2])?);
        Ok([
            int(1),
            text("x")?,
            text("longer than seven")?,
            Any::new(Bytes::new(b"longer than seven")?),
            shape,
        ])
    };
    // Containers of leaves only, with and without leaves in front of them.
    let values = || -> Result<std::vec::Vec<Any>> {
        let [one, short, long, bytes, shape] = leaves()?;
        // Equal hashes: small strings are padded with zeros.
        let ties =
            [(text("a")?, one.clone()), (text("a\0")?, short.clone()), (int(1), long.clone())];
        let flat = array(&leaves()?)?;
        let flat_map = map(&[(one.clone(), short.clone()), (long.clone(), Any::from(f64::NAN))])?;
        let mixed = [
            (one.clone(), bytes),
            (short, shape),
            (long.clone(), flat.clone()),
            (int(2), one.clone()),
        ];
        Ok(std::vec![
            array(&[])?,
            array(&[array(&[])?, list(&[])?, map(&[])?, dict(&[])?])?,
            array(&[flat.clone(), flat.clone(), one.clone()])?,
            array(&[
                one.clone(),
                array(&[long, array(from_ref(&one))?, flat.clone()])?,
                one.clone()
            ])?,
            list(&[flat.clone(), list(&[flat])?, one])?,
            map(&ties)?,
            array(&[flat_map.clone(), dict(&ties)?, array(&[flat_map])?])?,
            map(&mixed)?,
            dict(&mixed)?,
        ])
    };
    let (left, right) = (values()?, values()?);
    for (i, lhs) in left.iter().enumerate() {
        for (j, rhs) in right.iter().enumerate() {
            assert_eq!(equal(lhs, rhs, USED)?, i == j, "{i} {j}");
        }
    }
    Ok(())
}

#[test]
fn the_first_difference_is_found() -> Result<()> {
    let (one, two) = (array(&[int(1)])?, array(&[int(2)])?);
    let here = |key: &str, value: &Any| map(&[(text(key)?, value.clone())]);
    assert_eq!(difference(&int(1), &int(2))?, ["", ""]);
    assert_eq!(difference(&one, &two)?, [" 1:0", " 1:0"]);
    assert_eq!(difference(&one, &array(&[])?)?, [" 1:0", " 4:0"]);
    assert_eq!(difference(&list(&[])?, &list(from_ref(&one))?)?, [" 4:0", " 1:0"]);
    assert_eq!(difference(&here("a", &one)?, &here("a", &two)?)?, [" 2:a 1:0", " 2:a 1:0"]);
    assert_eq!(difference(&here("a", &one)?, &here("b", &one)?)?, [" 2:a", " 5:a"]);
    assert_eq!(difference(&map(&[])?, &here("b", &one)?)?, [" 5:b", " 2:b"]);
    assert_eq!(difference(&here("b", &one)?, &map(&[])?)?, [" 2:b", " 5:b"]);
    let tree = node_type("test.equal.DifferentTree", TREE, [IGNORE, 0])?;
    let lhs = pair(tree, int(1), here("a", &one)?)?;
    let rhs = pair(tree, int(2), here("a", &two)?)?;
    assert_eq!(difference(&lhs, &rhs)?, [" 0:second 2:a 1:0", " 0:second 2:a 1:0"]);
    Ok(())
}

#[test]
fn the_first_difference_is_found_behind_equal_elements() -> Result<()> {
    let inside = |elements: &[Any]| array(&[int(0), array(&[])?, array(elements)?, int(0)]);
    let one = || array(&[int(1)]);
    let left = inside(&[int(1), one()?, int(3)])?;
    let found = |elements: &[Any]| -> Result<[std::string::String; 2]> {
        let right = inside(elements)?;
        assert!(!equal(&left, &right, USED)?);
        difference(&left, &right)
    };
    assert!(equal(&left, &inside(&[int(1), one()?, int(3)])?, USED)?);
    assert_eq!(found(&[int(2), one()?, int(3)])?, [" 1:2 1:0", " 1:2 1:0"]);
    assert_eq!(found(&[int(1), array(&[int(2)])?, int(3)])?, [" 1:2 1:1 1:0", " 1:2 1:1 1:0"]);
    assert_eq!(
        found(&[int(1), array(&[int(1), int(1)])?, int(3)])?,
        [" 1:2 1:1 4:1", " 1:2 1:1 1:1"]
    );
    assert_eq!(found(&[int(1), list(&[int(1)])?, int(3)])?, [" 1:2 1:1", " 1:2 1:1"]);
    assert_eq!(found(&[int(1), one()?, int(4)])?, [" 1:2 1:2", " 1:2 1:2"]);
    assert_eq!(found(&[int(1), one()?])?, [" 1:2 1:2", " 1:2 4:2"]);
    assert_eq!(found(&[int(1), one()?, int(3), int(4)])?, [" 1:2 4:3", " 1:2 1:3"]);
    assert_eq!(found(&[])?, [" 1:2 1:0", " 1:2 4:0"]);
    Ok(())
}

#[test]
fn broken_values_are_refused() -> Result<()> {
    let function = |name| {
        FUNCTIONS.iter().find(|function| function.name() == name).expect("a name").to_function()
    };
    let (equal, hash) = (function("ffi.StructuralEqual")?, function("ffi.StructuralHash")?);
    let option = AnyView::from(false);
    let null_objects =
        [STR, BIG_INT, SHAPE, TENSOR, ARRAY, MAP, ERROR].map(|index| (index, 0, "ValueError"));
    let others = [(SMALL_STR, 100, "ValueError"), (-1, 0, "TypeError"), (40, 0, "TypeError")];
    for (type_index, small_str_len, kind) in null_objects.into_iter().chain(others) {
        let payload = TVMFFIAnyPayload { v_int64: 0 };
        // SAFETY: a cell without a pointer.
        let broken = unsafe { AnyView::from_raw(TVMFFIAny { type_index, small_str_len, payload }) };
        for outcome in [
            equal.call_packed(&[broken, broken, option, option]),
            equal.call_packed(&[option, broken, option, option]),
            hash.call_packed(&[broken, option, option]),
        ] {
            let error = outcome.expect_err("a broken value");
            assert_eq!(error.kind_bytes(), kind.as_bytes(), "type index {type_index}");
        }
    }
    Ok(())
}

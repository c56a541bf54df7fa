//! Equality, hash and first difference: of plain values, containers, variables, graphs and hooks.

use ferrite_core::abi::{
    TVMFFIByteArray, TVMFFITypeMetadata, kTVMFFIFieldFlagBitMaskSEqHashDefPattern as PATTERN,
    kTVMFFIFieldFlagBitMaskSEqHashDefSimple as SIMPLE, kTVMFFIFieldFlagBitMaskSEqHashIgnore as IGNORE,
    kTVMFFISEqHashKindConstTreeNode as CONST_TREE, kTVMFFISEqHashKindDAGNode as DAG,
    kTVMFFISEqHashKindFreeVar as VARIABLE, kTVMFFISEqHashKindTreeNode as TREE,
    kTVMFFISEqHashKindUniqueInstance as UNIQUE,
};
use ferrite_core::any::{Any, AnyView};
use ferrite_core::big_int::from_native_bytes;
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::shape::Shape;
use ferrite_core::string::{Bytes, String};
use ferrite_core::tensor::Tensor;
use ferrite_core::type_table;

use super::{Options, first_structural_mismatch, structural_equal, structural_hash};
use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};
use crate::dataclass::recursive_eq;
use crate::dataclass::testing::{add_hook, pair, pair_type, set_part};
use crate::reflection::AccessPath;

const USED: Options = Options { map_free_vars: false, skip_tensor_content: false };
const MAPPED: Options = Options { map_free_vars: true, skip_tensor_content: false };

/// A class of pairs of a structural kind, whose fields have these flags.
fn node_type(key: &str, kind: i32, flags: [i32; 2]) -> Result<i32> {
    let index = pair_type(key, flags.map(i64::from))?;
    let metadata = TVMFFITypeMetadata {
        doc: TVMFFIByteArray { data: core::ptr::null(), size: 0 },
        creator: None,
        total_size: 0,
        structural_eq_hash_kind: kind,
    };
    // SAFETY: there is no doc.
    unsafe { type_table::register_metadata(index, &metadata)? };
    Ok(index)
}

fn text(text: &str) -> Result<Any> {
    String::new(text).map(Any::new)
}

fn int(value: i64) -> Any {
    Any::from(value)
}

fn list(values: &[Any]) -> Result<Any> {
    ListObject::from_slice(values).map(Any::new)
}

fn array(values: &[Any]) -> Result<Any> {
    ArrayObject::from_slice(values).map(Any::new)
}

fn map(entries: &[(Any, Any)]) -> Result<Any> {
    let mut map = MapObject::with_capacity(0)?;
    entries.iter().try_for_each(|(key, value)| map.insert(key.clone(), value.clone()))?;
    Ok(Any::new(map))
}

fn dict(entries: &[(Any, Any)]) -> Result<Any> {
    let dict = DictObject::with_capacity(0)?;
    entries.iter().try_for_each(|(key, value)| dict.insert(key.clone(), value.clone()))?;
    Ok(Any::new(dict))
}

fn big(high: i64) -> Result<Any> {
    let mut content = [0; 16];
    content[8..].copy_from_slice(&high.to_ne_bytes());
    from_native_bytes(&content)
}

/// Whether two values are equal; equal values must have equal hashes, and no difference.
fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    let equal = structural_equal(lhs, rhs, options)?;
    assert_eq!(first_structural_mismatch(lhs, rhs, options)?.is_none(), equal);
    if equal {
        assert_eq!(structural_hash(lhs, options)?, structural_hash(rhs, options)?);
    }
    Ok(equal)
}

/// The kinds and keys of the steps to the first difference.
fn steps(path: &AccessPath) -> Result<std::string::String> {
    let mut text = std::string::String::new();
    for step in path.to_steps()?.iter() {
        let step = step?;
        let key = step.key();
        match key.try_get::<String>()? {
            Some(name) => text += &std::format!(" {}:{name}", step.kind()),
            None => text += &std::format!(" {}:{}", step.kind(), key.get::<i64>()?),
        }
    }
    Ok(text)
}

fn difference(lhs: &Any, rhs: &Any) -> Result<[std::string::String; 2]> {
    let (lhs, rhs) = first_structural_mismatch(lhs, rhs, USED)?.expect("they differ");
    Ok([steps(&lhs)?, steps(&rhs)?])
}

fn message<T>(outcome: Result<T>) -> std::string::String {
    match outcome {
        Ok(_) => std::string::String::from("no error"),
        Err(error) => std::string::String::from_utf8_lossy(error.message()).into_owned(),
    }
}

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
        assert_eq!(structural_hash(value, USED)? as i64, *hash, "{place}");
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
        let entries: std::vec::Vec<_> = numbers.iter().map(|number| (int(*number), int(-number))).collect();
        map(&entries)
    };
    assert!(equal(&entries(&[1, 2, 3, 4, 5, 6])?, &entries(&[6, 4, 2, 5, 3, 1])?, USED)?);
    assert!(!equal(&entries(&[1, 2])?, &entries(&[1, 3])?, USED)?);
    Ok(())
}

#[test]
fn the_first_difference_is_found() -> Result<()> {
    let (one, two) = (array(&[int(1)])?, array(&[int(2)])?);
    let here = |key: &str, value: &Any| map(&[(text(key)?, value.clone())]);
    assert_eq!(difference(&int(1), &int(2))?, ["", ""]);
    assert_eq!(difference(&one, &two)?, [" 1:0", " 1:0"]);
    assert_eq!(difference(&one, &array(&[])?)?, [" 1:0", " 4:0"]);
    assert_eq!(difference(&list(&[])?, &list(&[one.clone()])?)?, [" 4:0", " 1:0"]);
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
fn types_say_how_their_objects_count() -> Result<()> {
    let plain = pair_type("test.equal.NoMetadata", [0, 0])?;
    let unsupported = node_type("test.equal.Unsupported", 0, [0, 0])?;
    for (index, lacks) in [(plain, "Type metadata"), (unsupported, "_type_s_eq_hash_kind")] {
        let object = pair(index, int(1), int(2))?;
        let key = std::string::String::from_utf8_lossy(type_table::type_key_of(index));
        let expected = std::format!(
            "{lacks} is not set for type `{key}`, so StructuralHash is not supported for this type"
        );
        assert_eq!(message(structural_equal(&object, &object, USED)), expected);
        assert_eq!(message(structural_hash(&object, USED)), expected);
    }
    for (kind, key, alike) in [
        (TREE, "test.equal.Tree", true),
        (CONST_TREE, "test.equal.ConstTree", true),
        (DAG, "test.equal.Dag", true),
        (UNIQUE, "test.equal.Unique", false),
        (VARIABLE, "test.equal.Variable", false),
    ] {
        let index = node_type(key, kind, [0, 0])?;
        let (lhs, rhs) = (pair(index, int(1), int(2))?, pair(index, int(1), int(2))?);
        assert!(equal(&lhs, &lhs, USED)?);
        assert_eq!(equal(&lhs, &rhs, USED)?, alike, "{key}");
        assert!(!equal(&lhs, &pair(index, int(1), int(3))?, MAPPED)?);
    }
    Ok(())
}

#[test]
fn sharing_counts_in_graphs_only() -> Result<()> {
    let node = node_type("test.equal.Node", DAG, [0, 0])?;
    let tree = node_type("test.equal.Leaf", TREE, [0, 0])?;
    for (index, counts) in [(node, true), (tree, false)] {
        let leaf = || pair(index, int(1), int(2));
        let one = leaf()?;
        let shared = array(&[one.clone(), one])?;
        let apart = array(&[leaf()?, leaf()?])?;
        assert_eq!(equal(&shared, &apart, USED)?, !counts);
        assert_eq!(equal(&apart, &shared, USED)?, !counts);
        assert_eq!(structural_hash(&shared, USED)? != structural_hash(&apart, USED)?, counts);
        assert!(equal(&apart, &array(&[leaf()?, leaf()?])?, USED)?);
    }
    Ok(())
}

#[test]
fn variables_stand_for_each_other_where_they_are_defined() -> Result<()> {
    let variable = node_type("test.equal.Var", VARIABLE, [IGNORE, 0])?;
    let function = node_type("test.equal.Function", TREE, [PATTERN, 0])?;
    let var = |name: &str| pair(variable, text(name)?, Any::NONE);
    let (x, y) = (var("x")?, var("y")?);
    // A function that gives back its parameter number `result`.
    let choose = |params: [&Any; 2], result: usize| -> Result<Any> {
        let params = params.map(Any::clone);
        pair(function, array(&params)?, params[result].clone())
    };
    assert!(equal(&choose([&x, &y], 0)?, &choose([&y, &x], 0)?, USED)?);
    assert!(!equal(&choose([&x, &y], 0)?, &choose([&x, &y], 1)?, USED)?);
    // One variable cannot stand for two.
    assert!(!equal(&choose([&x, &x], 0)?, &choose([&x, &y], 0)?, USED)?);
    assert!(!equal(&choose([&x, &y], 0)?, &choose([&x, &x], 0)?, USED)?);
    // Used, but not defined.
    assert!(!equal(&array(&[x.clone()])?, &array(&[y.clone()])?, USED)?);
    assert!(equal(&array(&[x.clone()])?, &array(&[y.clone()])?, MAPPED)?);
    // Keys follow the variables.
    let counted = |params: [&Any; 2], key: &Any| -> Result<Any> {
        pair(function, array(&params.map(Any::clone))?, map(&[(key.clone(), int(1))])?)
    };
    assert!(equal(&counted([&x, &y], &x)?, &counted([&y, &x], &y)?, USED)?);
    let (lhs, rhs) = (counted([&x, &y], &x)?, counted([&y, &x], &x)?);
    assert!(!equal(&lhs, &rhs, USED)?);
    let (path, _) = first_structural_mismatch(&lhs, &rhs, USED)?.expect("they differ");
    let step = path.to_steps()?.iter().last().expect("two steps")?;
    assert!(recursive_eq(&step.key(), &x)?);
    Ok(())
}

#[test]
fn simple_definitions_do_not_reach_into_variables() -> Result<()> {
    let variable = node_type("test.equal.TypedVar", VARIABLE, [0, 0])?;
    let pattern = node_type("test.equal.PatternLet", TREE, [PATTERN, 0])?;
    let simple = node_type("test.equal.SimpleLet", TREE, [SIMPLE, 0])?;
    let var = |inner: Any| pair(variable, inner, Any::NONE);
    let (lhs, rhs) = (var(var(Any::NONE)?)?, var(var(Any::NONE)?)?);
    let bind = |index: i32, var: &Any| pair(index, var.clone(), var.clone());
    assert!(equal(&bind(pattern, &lhs)?, &bind(pattern, &rhs)?, USED)?);
    assert!(!equal(&bind(simple, &lhs)?, &bind(simple, &rhs)?, USED)?);
    let inner = var(Any::NONE)?;
    let (lhs, rhs) = (var(inner.clone())?, var(inner)?);
    assert!(equal(&bind(simple, &lhs)?, &bind(simple, &rhs)?, USED)?);
    // A pattern reaches through simple definitions inside it.
    let (lhs, rhs) = (var(var(Any::NONE)?)?, var(var(Any::NONE)?)?);
    let nested = |var: &Any| pair(pattern, bind(simple, var)?, Any::NONE);
    assert!(equal(&nested(&lhs)?, &nested(&rhs)?, USED)?);
    Ok(())
}

#[test]
fn hooks_decide_and_may_ask_back() -> Result<()> {
    let variable = node_type("test.equal.HookVar", VARIABLE, [IGNORE, 0])?;
    let hooked = node_type("test.equal.Hooked", TREE, [0, 0])?;
    let part = |object: &Any, place: usize| crate::dataclass::testing::part(object, place);
    // The first field defines variables, the second uses them.
    let equal_hook = Function::from_typed(move |lhs: Any, rhs: Any, compare: Function| -> Result<bool> {
        let name = String::new("param")?;
        let same = compare.call(&[
            part(&lhs, 0).view(),
            part(&rhs, 0).view(),
            AnyView::from(1i64),
            AnyView::from(&name),
        ])?;
        if !same.get::<bool>()? {
            return Ok(false);
        }
        let name = String::new("body")?;
        compare
            .call(&[part(&lhs, 1).view(), part(&rhs, 1).view(), AnyView::from(0i64), AnyView::from(&name)])?
            .get()
    })?;
    let hash_hook = Function::from_typed(move |object: Any, seed: i64, hash: Function| -> Result<i64> {
        let seed = hash.call(&[part(&object, 0).view(), AnyView::from(seed), AnyView::from(1i64)])?;
        hash.call(&[part(&object, 1).view(), seed.view(), AnyView::from(0i64)])?.get()
    })?;
    add_hook(hooked, "__s_equal__", &equal_hook)?;
    add_hook(hooked, "__s_hash__", &hash_hook)?;
    let var = || pair(variable, Any::NONE, Any::NONE);
    let (x, y) = (var()?, var()?);
    let identity = |var: &Any| pair(hooked, var.clone(), array(&[var.clone(), int(1)])?);
    assert!(equal(&identity(&x)?, &identity(&y)?, USED)?);
    let other = pair(hooked, y.clone(), array(&[y.clone(), int(2)])?)?;
    assert_eq!(difference(&identity(&x)?, &other)?, [" 0:body 1:1", " 0:body 1:1"]);
    // The same as by the flags of fields.
    let flagged = node_type("test.equal.Flagged", TREE, [PATTERN, 0])?;
    let by_flags = pair(flagged, x.clone(), x.clone())?;
    let seed = |index: i32| type_table::type_info(index).map_or(0, |entry| entry.type_key_hash());
    assert_ne!(seed(flagged), seed(hooked));
    assert!(equal(&by_flags, &pair(flagged, y.clone(), y.clone())?, USED)?);
    Ok(())
}

#[test]
fn errors_of_hooks_and_of_tensors_come_out() -> Result<()> {
    let hooked = node_type("test.equal.Failing", TREE, [0, 0])?;
    let fail = Function::from_typed(|_: Any, _: Any, _: Any| -> Result<bool> {
        ferrite_core::bail!(VALUE_ERROR, "not today")
    })?;
    add_hook(hooked, "__s_equal__", &fail)?;
    add_hook(hooked, "__s_hash__", &fail)?;
    let object = array(&[pair(hooked, int(1), int(2))?])?;
    assert_eq!(message(structural_equal(&object, &object, USED)), "not today");
    assert_eq!(message(structural_hash(&object, USED)), "not today");
    let wrong = node_type("test.equal.Wrong", TREE, [0, 0])?;
    type_table::register_attr(wrong, b"__s_equal__", AnyView::from(1i64))?;
    let object = pair(wrong, int(1), int(2))?;
    assert_eq!(structural_equal(&object, &object, USED).unwrap_err().kind(), b"TypeError");
    Ok(())
}

/// `depth` containers around a number.
fn nested(depth: usize, wrap: impl Fn(&[Any]) -> Result<Any>, number: i64) -> Result<Any> {
    let mut value = int(number);
    for _ in 0..depth {
        value = wrap(&[value])?;
    }
    Ok(value)
}

#[test]
fn depth_does_not_come_from_the_stack() -> Result<()> {
    let work = || -> Result<()> {
        let depth = match () {
            () if cfg!(miri) || cfg!(not(feature = "std")) => 100,
            () if cfg!(debug_assertions) => 100_000,
            () => 1_000_000,
        };
        let (one, two) = (nested(depth, array, 1)?, nested(depth, array, 2)?);
        assert!(structural_equal(&one, &one, USED)?);
        assert_ne!(structural_hash(&one, USED)?, structural_hash(&two, USED)?);
        let (path, _) = first_structural_mismatch(&one, &two, USED)?.expect("they differ");
        assert_eq!(path.depth() as usize, depth);
        Ok(())
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread").join().expect("no panic")
}

#[test]
fn cycles_end_at_the_limit_of_depth() -> Result<()> {
    if cfg!(miri) || cfg!(not(feature = "std")) {
        // There is less memory than the limit allows.
        return Ok(());
    }
    let cycle = || -> Result<ListObject> {
        let list = ListObject::with_capacity(1)?;
        list.push(Any::new(list.clone()))?;
        Ok(list)
    };
    let (lhs, rhs) = (cycle()?, cycle()?);
    let (left, right) = (Any::new(lhs.clone()), Any::new(rhs.clone()));
    for outcome in [
        structural_equal(&left, &right, USED).map(|_| ()),
        first_structural_mismatch(&left, &right, USED).map(|_| ()),
        structural_hash(&left, USED).map(|_| ()),
    ] {
        let text = message(outcome);
        assert!(text.ends_with("maximum stack depth (1048576) exceeded"), "{text}");
    }
    lhs.clear();
    rhs.clear();
    let tree = node_type("test.equal.Cycle", TREE, [0, 0])?;
    let object = pair(tree, Any::NONE, Any::NONE)?;
    set_part(&object, 0, object.clone());
    assert!(structural_hash(&object, USED).is_err());
    set_part(&object, 0, Any::NONE);
    Ok(())
}

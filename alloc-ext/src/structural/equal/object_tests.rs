//! Tests of structural equality and hash of objects: structural kinds, variable definitions and
//! hooks.

use core::slice::from_ref;
use core::sync::atomic::{AtomicUsize, Ordering};

use ferrite_core::abi::{
    kTVMFFIFieldFlagBitMaskSEqHashDefPattern as PATTERN,
    kTVMFFIFieldFlagBitMaskSEqHashDefSimple as SIMPLE,
    kTVMFFIFieldFlagBitMaskSEqHashIgnore as IGNORE, kTVMFFISEqHashKindConstTreeNode as CONST_TREE,
    kTVMFFISEqHashKindDAGNode as DAG, kTVMFFISEqHashKindFreeVar as VARIABLE,
    kTVMFFISEqHashKindTreeNode as TREE, kTVMFFISEqHashKindUniqueInstance as UNIQUE,
};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use super::testing::{MAPPED, USED, difference, equal, map, text};
use super::{first_structural_mismatch, structural_equal, structural_hash};
use crate::dataclass::recursive_eq;
use crate::dataclass::testing::{add_hook, array, int, message, node_type, pair, pair_type, part};

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
fn children_of_a_shared_container_are_hashed_once() -> Result<()> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let hooked = node_type("test.equal.Counting", TREE, [0, 0])?;
    let count = Function::from_typed(|_: Any, _: i64, _: Function| -> i64 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        7
    })?;
    add_hook(hooked, "__s_hash__", &count)?;
    let inner = array(from_ref(&pair(hooked, int(1), int(2))?))?;
    let outer = array(&[array(from_ref(&inner))?, inner])?;
    structural_hash(&outer, USED)?;
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
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
    // A function that returns its parameter number `result`.
    let choose = |params: [&Any; 2], result: usize| -> Result<Any> {
        let params = params.map(Any::clone);
        pair(function, array(&params)?, params[result].clone())
    };
    assert!(equal(&choose([&x, &y], 0)?, &choose([&y, &x], 0)?, USED)?);
    assert!(!equal(&choose([&x, &y], 0)?, &choose([&x, &y], 1)?, USED)?);
    // One variable cannot correspond to two.
    assert!(!equal(&choose([&x, &x], 0)?, &choose([&x, &y], 0)?, USED)?);
    assert!(!equal(&choose([&x, &y], 0)?, &choose([&x, &x], 0)?, USED)?);
    // Used, but not defined.
    assert!(!equal(&array(from_ref(&x))?, &array(from_ref(&y))?, USED)?);
    assert!(equal(&array(from_ref(&x))?, &array(from_ref(&y))?, MAPPED)?);
    // Keys are compared through bindings.
    let counted = |params: [&Any; 2], key: &Any| -> Result<Any> {
        pair(function, array(&params.map(Any::clone))?, map(&[(key.clone(), int(1))])?)
    };
    assert!(equal(&counted([&x, &y], &x)?, &counted([&y, &x], &y)?, USED)?);
    let (lhs, rhs) = (counted([&x, &y], &x)?, counted([&y, &x], &x)?);
    assert!(!equal(&lhs, &rhs, USED)?);
    let (path, _) = first_structural_mismatch(&lhs, &rhs, USED)?.expect("they differ");
    let step = path.to_steps()?.iter().next_back().expect("two steps")?;
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
    // A pattern extends through simple definitions inside it.
    let (lhs, rhs) = (var(var(Any::NONE)?)?, var(var(Any::NONE)?)?);
    let nested = |var: &Any| pair(pattern, bind(simple, var)?, Any::NONE);
    assert!(equal(&nested(&lhs)?, &nested(&rhs)?, USED)?);
    Ok(())
}

#[test]
fn hooks_decide_and_may_ask_back() -> Result<()> {
    let variable = node_type("test.equal.HookVar", VARIABLE, [IGNORE, 0])?;
    let hooked = node_type("test.equal.Hooked", TREE, [0, 0])?;
    // The first field defines variables, the second uses them.
    let equal_hook =
        Function::from_typed(move |lhs: Any, rhs: Any, compare: Function| -> Result<bool> {
            let name = String::new("param")?;
            let same = compare.call_packed(&[
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
                .call_packed(&[
                    part(&lhs, 1).view(),
                    part(&rhs, 1).view(),
                    AnyView::from(0i64),
                    AnyView::from(&name),
                ])?
                .get()
        })?;
    let hash_hook =
        Function::from_typed(move |object: Any, seed: i64, hash: Function| -> Result<i64> {
            let seed = hash.call_packed(&[
                part(&object, 0).view(),
                AnyView::from(seed),
                AnyView::from(1i64),
            ])?;
            hash.call_packed(&[part(&object, 1).view(), seed.view(), AnyView::from(0i64)])?.get()
        })?;
    add_hook(hooked, "__s_equal__", &equal_hook)?;
    add_hook(hooked, "__s_hash__", &hash_hook)?;
    let var = || pair(variable, Any::NONE, Any::NONE);
    let (x, y) = (var()?, var()?);
    let identity = |var: &Any| pair(hooked, var.clone(), array(&[var.clone(), int(1)])?);
    assert!(equal(&identity(&x)?, &identity(&y)?, USED)?);
    let other = pair(hooked, y.clone(), array(&[y.clone(), int(2)])?)?;
    assert_eq!(difference(&identity(&x)?, &other)?, [" 0:body 1:1", " 0:body 1:1"]);
    // Same result as with the flags of fields.
    let flagged = node_type("test.equal.Flagged", TREE, [PATTERN, 0])?;
    let by_flags = pair(flagged, x.clone(), x.clone())?;
    let seed = |index: i32| type_table::type_info(index).map_or(0, |entry| entry.type_key_hash());
    assert_ne!(seed(flagged), seed(hooked));
    assert!(equal(&by_flags, &pair(flagged, y.clone(), y.clone())?, USED)?);
    Ok(())
}

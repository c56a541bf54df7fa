//! Tests of structural maps and mutations of containers and objects: in place and in copies, with
//! variables, hooks and invalid callbacks.

use core::ffi::c_void;

use ferrite_core::abi::type_index::{ARRAY, DICT, INT, LIST, MAP};
use ferrite_core::abi::{
    kTVMFFIFieldFlagBitMaskSEqHashDefPattern as PATTERN,
    kTVMFFIFieldFlagBitMaskSEqHashDefSimple as SIMPLE,
    kTVMFFIFieldFlagBitMaskSEqHashIgnore as IGNORE, kTVMFFISEqHashKindDAGNode as DAG,
    kTVMFFISEqHashKindFreeVar as VARIABLE, kTVMFFISEqHashKindTreeNode as TREE,
};
use ferrite_core::bail;
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::value::any::{Any, AnyView};

use super::engine::{self, Engine};
use super::functions::follow;
use super::mutation;
use super::mutator::{self, InplaceMode};
use super::node::Step;
use super::rule::{MapCallbacks, Rule};
use super::unchanged::{UNCHANGED, is_same, is_unchanged, value_or};
use crate::containers::{Array, ArrayObject, DictObject, ListObject, MapObject, Tuple};
use crate::dataclass::testing::{self, add_hook, array, int, list, pair, pair_type, part};
use crate::reflection::{StructuralMutator, VisitErrorContext};
use crate::structural::DefRegion;
use crate::structural::callbacks::Callbacks;
use crate::structural::native;
use crate::structural::walker;

fn element(container: &Any, index: i64) -> Result<Any> {
    match container.type_index() {
        LIST => container.get::<ListObject>()?.get(index),
        _ => container.get::<ArrayObject>()?.get(index).cloned(),
    }
}

fn callbacks(entries: &[(i32, &Function)]) -> Result<Callbacks> {
    let mut array = Array::new()?;
    for (type_index, function) in entries {
        array.push(Tuple::new((*type_index, (*function).clone()))?)?;
    }
    Callbacks::new(&array)
}

fn map_callbacks(entries: &[(i32, &Function)]) -> Result<MapCallbacks> {
    Ok(MapCallbacks { plain: callbacks(entries)?, with_region: Callbacks::default() })
}

/// Creates a callback that increments integers.
fn increment() -> Result<Function> {
    Function::from_typed(|value: i64| value + 1)
}

fn incremented(root: Any) -> Result<Any> {
    follow(Rule::PostOrder(map_callbacks(&[(INT, &increment()?)])?), root)
}

fn address(value: &Any) -> usize {
    value.as_object().expect("an object").as_ptr().addr()
}

/// Returns the addresses of the nodes in an error's context.
fn nodes(error: &Error) -> std::vec::Vec<usize> {
    let context =
        error.extra_context().and_then(|context| context.downcast::<VisitErrorContext>().ok());
    let pattern = context.expect("a context").reverse_visit_pattern();
    pattern.iter().map(|node| node.unwrap().as_ptr().addr()).collect()
}

/// Registers a class of copyable pairs with a structural kind.
fn node_type(key: &str, kind: i32, flags: [i32; 2]) -> Result<i32> {
    let index = testing::node_type(key, kind, flags)?;
    let copy =
        Function::from_typed(move |value: Any| pair(index, part(&value, 0), part(&value, 1)))?;
    add_hook(index, "__ffi_shallow_copy__", &copy)?;
    Ok(index)
}

#[test]
fn only_what_nobody_else_holds_changes_in_place() -> Result<()> {
    let root = array(&[int(1), list(&[int(2)])?])?;
    let (outer, inner) = (address(&root), address(&element(&root, 1)?));
    let mapped = incremented(root)?;
    assert_eq!((address(&mapped), address(&element(&mapped, 1)?)), (outer, inner));
    assert_eq!(element(&mapped, 0)?.get::<i64>()?, 2);
    assert_eq!(element(&element(&mapped, 1)?, 0)?.get::<i64>()?, 3);

    let held = element(&mapped, 1)?;
    let mapped = incremented(mapped)?;
    assert_eq!(address(&mapped), outer);
    assert_ne!(address(&element(&mapped, 1)?), inner);
    assert_eq!(element(&held, 0)?.get::<i64>()?, 3);

    let other = mapped.clone();
    let copy = incremented(mapped)?;
    assert_ne!(address(&copy), address(&other));
    assert_eq!((element(&other, 0)?.get::<i64>()?, element(&copy, 0)?.get::<i64>()?), (3, 4));
    assert_eq!(
        element(&element(&other, 1)?, 0)?.get::<i64>()?,
        4,
        "what is inside of something shared is shared"
    );
    Ok(())
}

#[test]
fn unchanged_values_keep_their_identity() -> Result<()> {
    let kept = list(&[Any::NONE])?;
    let root = array(&[kept.clone(), int(1)])?;
    let nothing = follow(Rule::PostOrder(MapCallbacks::default()), root.clone())?;
    assert!(is_same(nothing.view(), root.view()));
    let mapped = incremented(root)?;
    assert!(is_same(element(&mapped, 0)?.view(), kept.view()));
    Ok(())
}

#[test]
fn values_of_maps_change_and_keys_do_not() -> Result<()> {
    for count in [3i64, 30] {
        let (mut map, dict) = (MapObject::with_capacity(0)?, DictObject::with_capacity(0)?);
        for key in 0..count {
            map.insert(int(key), int(key))?;
            dict.insert(int(key), int(key))?;
        }
        for shared in [false, true] {
            let root = array(&[Any::new(map.copy()?), Any::new(dict.copy()?)])?;
            let held = shared.then(|| root.clone());
            let mapped = incremented(root)?;
            let (map, dict) = (
                element(&mapped, 0)?.get::<MapObject>()?,
                element(&mapped, 1)?.get::<DictObject>()?,
            );
            for (place, (key, value)) in map.iter().enumerate() {
                assert_eq!(
                    (key.get::<i64>()?, value.get::<i64>()?),
                    (place as i64, place as i64 + 1)
                );
                assert_eq!(dict.at(key.view())?.get::<i64>()?, place as i64 + 1);
            }
            if let Some(held) = held {
                assert_eq!(
                    element(&held, 0)?.get::<MapObject>()?.at(int(0).view())?.get::<i64>()?,
                    0
                );
                assert_eq!(
                    element(&held, 1)?.get::<DictObject>()?.at(int(0).view())?.get::<i64>()?,
                    0
                );
            }
        }
    }
    Ok(())
}

#[test]
fn replacements_are_mapped_only_before_their_inside() -> Result<()> {
    let wrap = Function::from_typed(|value: Any| array(&[int(10), element(&value, 0)?]))?;
    let entries = [(ARRAY, &wrap), (INT, &increment()?)];
    let before = follow(Rule::PreOrder(map_callbacks(&entries)?), array(&[int(1)])?)?;
    assert_eq!((element(&before, 0)?.get::<i64>()?, element(&before, 1)?.get::<i64>()?), (11, 2));
    let after = follow(Rule::PostOrder(map_callbacks(&entries)?), array(&[int(1)])?)?;
    assert_eq!((element(&after, 0)?.get::<i64>()?, element(&after, 1)?.get::<i64>()?), (10, 2));
    let keep = Function::from_packed(|_| Ok(UNCHANGED))?;
    let entries = [(ARRAY, &keep), (INT, &increment()?)];
    for rule in
        [Rule::PreOrder(map_callbacks(&entries)?), Rule::PostOrder(map_callbacks(&entries)?)]
    {
        assert_eq!(element(&follow(rule, array(&[int(1)])?)?, 0)?.get::<i64>()?, 2);
    }
    Ok(())
}

#[test]
fn callbacks_of_mutations_decide_what_happens_inside() -> Result<()> {
    let first_only = Function::from_typed(|value: Any, mutator: StructuralMutator, mode: i32| {
        let first = element(&value, 0)?;
        let answer = mutator::mutate(&mutator, first.view(), InplaceMode::Disallow)?;
        array(&[value_or(answer, first), element(&value, 1)?, Any::from(mode)])
    })?;
    let entries = Array::from_slice(&[
        Tuple::new((ARRAY, first_only, true))?,
        Tuple::new((INT, Function::from_typed(|value: i64, _: Any| value + 1)?, false))?,
    ])?;
    let mutated =
        follow(Rule::Mutate(Callbacks::with_flags(&entries)?), array(&[int(1), int(1)])?)?;
    let found =
        [0, 1, 2].map(|index| element(&mutated, index).and_then(|value| value.get::<i64>()).ok());
    assert_eq!(found, [Some(2), Some(1), Some(InplaceMode::Allow as i64)]);
    Ok(())
}

#[test]
fn fields_change_in_a_copy() -> Result<()> {
    let index = node_type("test.mutate.Tree", TREE, [0, IGNORE])?;
    let node = pair(index, array(&[int(1)])?, int(1))?;
    let copy = incremented(node.clone())?;
    assert!(!is_same(copy.view(), node.view()));
    assert_eq!(element(&part(&copy, 0), 0)?.get::<i64>()?, 2);
    assert_eq!((part(&copy, 1).get::<i64>()?, element(&part(&node, 0), 0)?.get::<i64>()?), (1, 1));
    let node = pair(index, Any::NONE, int(1))?;
    assert!(is_same(incremented(node.clone())?.view(), node.view()));
    Ok(())
}

#[test]
fn shared_nodes_are_rewritten_once() -> Result<()> {
    let index = node_type("test.mutate.Shared", DAG, [0, 0])?;
    let node = pair(index, int(1), Any::NONE)?;
    let mapped = incremented(array(&[node.clone(), node])?)?;
    assert!(is_same(element(&mapped, 0)?.view(), element(&mapped, 1)?.view()));
    assert_eq!(part(&element(&mapped, 0)?, 0).get::<i64>()?, 2);
    Ok(())
}

#[test]
fn variables_change_where_they_are_defined() -> Result<()> {
    let variable = node_type("test.mutate.Variable", VARIABLE, [0, 0])?;
    let function = node_type("test.mutate.Function", TREE, [SIMPLE, 0])?;
    let pattern = node_type("test.mutate.Pattern", TREE, [PATTERN, 0])?;
    let (used, defined) = (pair(variable, int(1), Any::NONE)?, pair(variable, int(1), Any::NONE)?);
    assert!(is_same(incremented(used.clone())?.view(), used.view()));
    let typed = pair(variable, used.clone(), int(1))?;
    for class in [function, pattern] {
        let body = array(&[defined.clone(), used.clone()])?;
        let mapped = incremented(pair(class, defined.clone(), body)?)?;
        let (definition, body) = (part(&mapped, 0), part(&mapped, 1));
        assert_eq!(part(&definition, 0).get::<i64>()?, 2);
        assert!(is_same(element(&body, 0)?.view(), definition.view()));
        assert!(is_same(element(&body, 1)?.view(), used.view()));
        // Variables in a variable are defined by patterns only.
        let definition = part(&incremented(pair(class, typed.clone(), Any::NONE)?)?, 0);
        assert_eq!(
            part(&part(&definition, 0), 0).get::<i64>()?,
            if class == pattern { 2 } else { 1 }
        );
    }
    Ok(())
}

#[test]
fn the_region_is_back_after_an_error() -> Result<()> {
    let class = node_type("test.mutate.Region", TREE, [PATTERN, 0])?;
    let seen = Function::from_packed(|args| {
        assert_eq!(args[1].get::<i32>()?, DefRegion::PATTERN.as_raw());
        bail!(ValueError, "no")
    })?;
    let rule = Rule::PreOrder(MapCallbacks {
        plain: Callbacks::default(),
        with_region: callbacks(&[(INT, &seen)])?,
    });
    let mutator = Engine::mutator(rule)?;
    let node = pair(class, array(&[int(1)])?, Any::NONE)?;
    let run = || engine::run(&mutator, node.view(), InplaceMode::Disallow, Step::Mutate).map(drop);
    assert_eq!(run().unwrap_err().message_bytes(), b"no");
    assert_eq!(walker::region(&mutator), DefRegion::NONE);
    Ok(())
}

#[test]
fn errors_tell_where_they_happened() -> Result<()> {
    let fail = Function::from_typed(|_: Any| -> Result<Any> { bail!(ValueError, "no") })?;
    let inner = array(&[int(1)])?;
    let root = list(core::slice::from_ref(&inner))?;
    for (failing, rule, expected) in [
        (INT, true, &[address(&inner), address(&root)][..]),
        (ARRAY, true, &[address(&inner), address(&root)][..]),
        (LIST, false, &[address(&root)][..]),
    ] {
        let callbacks = map_callbacks(&[(failing, &fail)])?;
        let rule = if rule { Rule::PreOrder(callbacks) } else { Rule::PostOrder(callbacks) };
        let error = follow(rule, root.clone()).map(drop).unwrap_err();
        assert_eq!(nodes(&error), expected);
    }
    Ok(())
}

#[test]
fn hooks_of_types_are_called() -> Result<()> {
    let index = node_type("test.mutate.Hooked", TREE, [0, 0])?;
    let hook = Function::from_typed(|mutator: StructuralMutator, value: Any| {
        let first = part(&value, 0);
        mutator::mutate(&mutator, first.view(), InplaceMode::Disallow)
    })?;
    add_hook(index, mutation::MUTATE, &hook)?;
    assert_eq!(
        incremented(pair(index, int(4), Any::NONE)?)?.get::<i64>()?,
        6,
        "the callback gets the answer of the hook"
    );
    let broken = node_type("test.mutate.Broken", TREE, [0, 0])?;
    type_table::register_attr(broken, mutation::MUTATE.as_bytes(), AnyView::from(1i64))?;
    let node = pair(broken, Any::NONE, Any::NONE)?;
    let error = incremented(node.clone()).map(drop).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"__s_mutate__ must be a direct hook pointer or ffi.Function"
    );
    assert_eq!(nodes(&error), [address(&node)]);
    Ok(())
}

#[test]
fn objects_need_a_copy_of_their_own() -> Result<()> {
    let error = incremented(Any::new(increment()?)).map(drop).unwrap_err();
    assert_eq!(error.message_bytes(), b"__ffi_shallow_copy__ must be an ffi.Function");
    let index = pair_type("test.mutate.Same", [0, 0])?;
    add_hook(index, "__ffi_shallow_copy__", &Function::from_typed(|value: Any| value)?)?;
    let error = incremented(pair(index, Any::NONE, Any::NONE)?).map(drop).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Shallow copy callback must return a distinct object with the same type as its input"
    );
    Ok(())
}

fn nested(depth: usize) -> Result<Any> {
    (0..depth).try_fold(int(1), |inner, _| array(&[inner]))
}

fn innermost(mut value: Any) -> Result<i64> {
    while value.type_index() == ARRAY {
        value = element(&value, 0)?;
    }
    value.get()
}

#[test]
fn depth_is_bounded_by_memory_only() -> Result<()> {
    let has_heap = cfg!(feature = "std") && !cfg!(miri);
    let depth = if has_heap { 100_000 } else { 100 };
    let root = incremented(nested(depth)?)?;
    let copy = incremented(root.clone())?;
    assert_eq!((innermost(root)?, innermost(copy)?), (2, 3));
    if has_heap {
        let root = nested(crate::walk::MAX_DEPTH + 1)?;
        let error = incremented(root).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
    }
    Ok(())
}

#[test]
fn hooks_that_never_end_are_ended() -> Result<()> {
    let index = node_type("test.mutate.Endless", TREE, [0, 0])?;
    let hook = Function::from_typed(|mutator: StructuralMutator, value: Any| {
        mutator::mutate(&mutator, value.view(), InplaceMode::Disallow)
    })?;
    add_hook(index, mutation::MUTATE, &hook)?;
    let error = incremented(pair(index, Any::NONE, Any::NONE)?).map(drop).unwrap_err();
    assert_eq!(error.kind_bytes(), b"ValueError");
    Ok(())
}

#[test]
fn containers_that_callbacks_change_are_safe() -> Result<()> {
    for shared in [false, true] {
        let items = ListObject::from_slice(&[list(&[int(1)])?, list(&[int(2)])?, int(3)])?;
        let held = shared.then(|| items.clone());
        let met = std::sync::Arc::new(std::sync::Mutex::new(None));
        let outermost = met.clone();
        let keep = Function::from_packed(move |args| {
            let list = args[0].get::<ListObject>()?;
            outermost.lock().unwrap().get_or_insert(list);
            Ok(UNCHANGED)
        })?;
        let shrink = Function::from_typed(move |value: i64| {
            let list: Option<ListObject> = met.lock().unwrap().take();
            if let Some(list) = list {
                list.clear().expect("nothing else uses the list");
            }
            value + 1
        })?;
        let rule = Rule::PreOrder(map_callbacks(&[(INT, &shrink), (LIST, &keep)])?);
        let mapped: ListObject = follow(rule, Any::new(items))?.get()?;
        assert_eq!(mapped.len(), 0);
        drop(held);
    }
    for key_count in [1i64, 3, 20] {
        let dict = DictObject::with_capacity(0)?;
        for key in 0..key_count {
            dict.insert(int(key), list(&[int(key)])?)?;
        }
        let other = dict.clone();
        let grow = Function::from_typed(move |value: i64| {
            for key in 100..140 {
                other.insert(int(key), Any::NONE)?;
            }
            other.remove(int(value).view())?;
            Ok(value + 1) as Result<i64>
        })?;
        let rule = Rule::PostOrder(map_callbacks(&[(INT, &grow)])?);
        assert!(follow(rule, Any::new(dict))?.get::<DictObject>().is_ok());
    }
    Ok(())
}

#[test]
fn native_hooks_serve_every_mutator() -> Result<()> {
    super::install()?;
    let mutator = Engine::mutator(Rule::PostOrder(map_callbacks(&[(INT, &increment()?)])?))?;
    let mut map = MapObject::with_capacity(0)?;
    map.insert(int(1), int(1))?;
    let dict = DictObject::with_capacity(0)?;
    dict.insert(int(1), int(1))?;
    for (index, value) in [
        (ARRAY, array(&[int(1)])?),
        (LIST, list(&[int(1)])?),
        (MAP, Any::new(map)),
        (DICT, Any::new(dict)),
    ] {
        for (column, in_place) in
            [(mutation::MUTATE, false), (mutation::MAYBE_INPLACE_MUTATE, true)]
        {
            let hook = type_table::attr(index, column.as_bytes());
            assert!(hook.get::<*mut c_void>().is_ok());
            // SAFETY: the hook comes from that column, and only this test has the value.
            let answer = unsafe { native::call_hook(column, hook, &mutator, value.view())? };
            assert_eq!(is_unchanged(&answer), in_place);
        }
        let wrong = type_table::attr(index, mutation::MUTATE.as_bytes());
        // SAFETY: the hook comes from that column.
        let outcome =
            unsafe { native::call_hook(mutation::MUTATE, wrong, &mutator, AnyView::from(1i64)) };
        assert_eq!(outcome.map(drop).unwrap_err().kind_bytes(), b"TypeError");
    }
    Ok(())
}

#[test]
fn nothing_is_known_of_what_is_no_object() -> Result<()> {
    let mutator = Engine::mutator(Rule::PostOrder(MapCallbacks::default()))?;
    let var = list(&[])?;
    assert!(mutator::var_remap_get(&mutator, var.view())?.is_none());
    for mapped in [int(1), int(2)] {
        mutator::var_remap_set(&mutator, var.view(), mapped.view())?;
        assert!(is_same(mutator::var_remap_get(&mutator, var.view())?.view(), mapped.view()));
    }
    let error = mutator::var_remap_get(&mutator, AnyView::from(1i64)).map(drop).unwrap_err();
    assert_eq!(error.message_bytes(), b"Variable-remap key must be an object-backed value");
    Ok(())
}

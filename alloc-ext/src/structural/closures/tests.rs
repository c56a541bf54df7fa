//! Tests of closures: which nodes they get, what they may return and capture, and what they see of
//! regions and errors.

use core::cell::{Cell, RefCell};
use std::vec::Vec;

use ferrite_core::abi::{
    kTVMFFIFieldFlagBitMaskSEqHashDefPattern as PATTERN,
    kTVMFFIFieldFlagBitMaskSEqHashDefSimple as SIMPLE, kTVMFFISEqHashKindFreeVar as VARIABLE,
    kTVMFFISEqHashKindTreeNode as TREE,
};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::value::any::Any;
use ferrite_core::{Error, String, bail};

use super::{Flow, Mutator, Node, Structural, Visitor, Walk};
use crate::containers::faults::with_every_refusal;
use crate::containers::{Array, List, Map};
use crate::dataclass::testing::{add_hook, array, int, list, node_type, pair};
use crate::json;
use crate::reflection::{StructuralVisitor, VisitErrorContext};
use crate::structural::any_arg::AnyArg;
use crate::structural::{DefRegion, WalkOrder, operations};

fn parse(text: &str) -> Any {
    json::parse(text.as_bytes()).expect("JSON")
}

fn text_of(value: &Any) -> std::string::String {
    json::stringify(value, None).expect("a JSON value").as_str().expect("UTF-8").into()
}

#[test]
fn closures_get_the_nodes_of_their_type() -> Result<()> {
    let root = array(&[
        int(1),
        Any::from(true),
        Any::from(2.5),
        Any::new(String::new("a text of some length")?),
    ])?;
    let seen = RefCell::new(Vec::new());
    let note = |name: &'static str| seen.borrow_mut().push(name);
    root.structural_walk(
        WalkOrder::Pre,
        (
            |_: f64| note("float"),
            |_: bool| note("bool"),
            |_: u8| note("int"),
            |text: &str| assert_eq!(text, "a text of some length"),
            |_: Array<i64>| note("array of ints"),
            |_: &Any| note("any"),
        ),
    )?;
    assert_eq!(seen.take(), ["any", "int", "bool", "float"]);
    // The first closure that accepts a node is the only one that gets it; one for all nodes may
    // stand alone.
    let mut count = 0;
    root.structural_walk(WalkOrder::Post, |_: Any| count += 1)?;
    assert_eq!(count, 5);
    // A number that does not fit is of another type.
    int(300).structural_walk(WalkOrder::Pre, (|_: u8| note("byte"), |_: i64| note("int")))?;
    assert_eq!(seen.take(), ["int"]);
    Ok(())
}

#[test]
fn walks_skip_and_are_interrupted() -> Result<()> {
    let root = parse("[1, [2, [3]], 4]");
    let mut sum = 0;
    let outcome = root.structural_walk(
        WalkOrder::Pre,
        (
            |n: i64| sum += n,
            |inner: Array<Any>| if inner.len() == 2 { Walk::Skip } else { Walk::Continue },
        ),
    )?;
    assert_eq!((sum, outcome.is_none()), (5, true));
    let mut seen = Vec::new();
    let outcome = root.structural_walk(WalkOrder::Post, |n: i64| {
        seen.push(n);
        if n == 3 { Flow::Break(int(30)) } else { Flow::Continue(()) }
    })?;
    assert_eq!(outcome.expect("an interrupt").get::<i64>()?, 30);
    assert_eq!(seen, [1, 2, 3]);
    // An interrupt may be without a value.
    let outcome = root.structural_walk(WalkOrder::Pre, |_: i64| Walk::Interrupt(Any::NONE))?;
    assert!(outcome.is_some_and(|value| value.is_none()));
    Ok(())
}

#[test]
fn errors_of_closures_end_walks_and_know_the_path() -> Result<()> {
    let root = parse("[0, [1]]");
    let check = |n: i64| -> Result<()> { if n == 1 { bail!(KeyError, "one") } else { Ok(()) } };
    let context = |error: Error| -> Result<usize> {
        assert_eq!((error.kind_bytes(), error.message_bytes()), (&b"KeyError"[..], &b"one"[..]));
        let context =
            error.extra_context().and_then(|context| context.downcast::<VisitErrorContext>().ok());
        Ok(context.expect("a context").reverse_visit_pattern().len())
    };
    assert_eq!(context(root.structural_walk(WalkOrder::Pre, check).map(drop).unwrap_err())?, 2);
    let visit = |n: i64, _: &mut Visitor| check(n);
    assert_eq!(context(root.structural_visit(visit).map(drop).unwrap_err())?, 2);
    let map = |n: i64| check(n).map(|()| n);
    assert_eq!(
        context(root.clone().structural_map::<Any, _, _>(WalkOrder::Post, map).unwrap_err())?,
        2
    );
    let mutate = |n: i64, _: &mut Mutator| check(n).map(|()| n);
    assert_eq!(context(root.structural_mutate::<Any, _, _>(mutate).unwrap_err())?, 2);
    Ok(())
}

#[test]
fn regions_are_those_of_fields() -> Result<()> {
    let defines = node_type("test.closures.Defines", TREE, [PATTERN, SIMPLE])?;
    let root = pair(defines, int(1), array(&[int(2)])?)?;
    let mut seen = Vec::new();
    root.structural_walk(WalkOrder::Pre, |n: i64, region: DefRegion| seen.push((n, region)))?;
    assert_eq!(seen, [(1, DefRegion::PATTERN), (2, DefRegion::SIMPLE)]);
    let seen = RefCell::new(Vec::new());
    root.structural_visit(|n: i64, visitor: &mut Visitor| {
        seen.borrow_mut().push((n, visitor.region()))
    })?;
    assert_eq!(seen.take(), [(1, DefRegion::PATTERN), (2, DefRegion::SIMPLE)]);
    // A closure may enter a region, which ends with its body.
    root.structural_visit((
        |inner: Array<Any>, visitor: &mut Visitor| {
            let flow =
                visitor.in_region(DefRegion::PATTERN, |visitor| visitor.visit(&inner.get(0)?))?;
            assert_eq!(visitor.region(), DefRegion::SIMPLE);
            Ok(flow)
        },
        |n: i64, visitor: &mut Visitor| seen.borrow_mut().push((n, visitor.region())),
    ))?;
    assert_eq!(seen.take(), [(1, DefRegion::PATTERN), (2, DefRegion::PATTERN)]);
    Ok(())
}

#[test]
fn visits_go_where_closures_go() -> Result<()> {
    let root = parse("[[1, 2], 3, {\"k\": 4}]");
    let mut seen = Vec::new();
    // Visits the last element first, then all; of maps nothing.
    root.structural_visit_with(
        &mut seen,
        (
            |n: i64, visitor: &mut Visitor<Vec<i64>>| visitor.state().push(n),
            |inner: Array<i64>, visitor: &mut Visitor<Vec<i64>>| {
                let last = inner.get(inner.len() - 1)?;
                let _ = visitor.visit(&last)?;
                visitor.visit_children()
            },
            |_: Map<Any, Any>, _: &mut Visitor<Vec<i64>>| {},
        ),
    )?;
    assert_eq!(seen, [2, 1, 2, 3]);
    // An interrupt passes the closures that are around.
    let found = root.structural_visit((
        |n: i64, _: &mut Visitor| if n == 2 { Flow::Break(int(20)) } else { Flow::Continue(()) },
        |_: Array<Any>, visitor: &mut Visitor| visitor.visit_children(),
    ))?;
    assert_eq!(found.expect("an interrupt").get::<i64>()?, 20);
    Ok(())
}

#[test]
fn maps_replace_nodes_and_share_the_others() -> Result<()> {
    let (changed, kept) = (array(&[int(1)])?, array(&[Any::from(0.5)])?);
    let root: Array<Any> = Array::from_slice(&[changed, kept.clone()])?;
    let mapped: Array<Any> = root.clone().structural_map(WalkOrder::Post, |n: i64| n + 1)?;
    assert_eq!(text_of(&Any::new(mapped.clone())), "[[2],[0.5]]");
    assert_eq!(text_of(&Any::new(root)), "[[1],[0.5]]");
    let same =
        |value: &Any| value.as_object().zip(kept.as_object()).is_some_and(|(a, b)| a.ptr_eq(b));
    assert!(same(&mapped.get(1)?));
    // Without another reference, containers are changed in place.
    let address = |value: &Any| value.as_object().map(|object| object.as_ptr());
    let numbers = list(&[int(1), int(2)])?;
    let before = address(&numbers);
    let after: Any = numbers.structural_map(WalkOrder::Post, |n: i64| n * 10)?;
    assert_eq!(before, address(&after));
    assert_eq!(text_of(&after), "[10,20]");
    // In pre-order, what replaces a node is mapped, too.
    let nested: Any = parse("[5]").structural_map(
        WalkOrder::Pre,
        (
            |n: i64| if n > 3 { Any::new(n - 1) } else { Any::from(n) },
            |inner: Array<i64>| if inner.len() == 1 { parse("[8, 2]") } else { Any::new(inner) },
        ),
    )?;
    assert_eq!(text_of(&nested), "[7,2]");
    Ok(())
}

#[test]
fn a_result_of_another_type_is_an_error() -> Result<()> {
    let error = parse("[1]")
        .structural_map::<Array<i64>, _, _>(WalkOrder::Post, |_: i64| "text")
        .unwrap_err();
    assert_eq!(error.kind_bytes(), b"TypeError");
    Ok(())
}

#[test]
fn mutations_go_where_closures_go() -> Result<()> {
    let root = parse("[1, [2, 3], {\"k\": [4]}]");
    let mut depth = 0;
    let mutated: Any = root.clone().structural_mutate_with(
        &mut depth,
        (
            |n: i64, mutator: &mut Mutator<i64>| n * 10 + *mutator.state(),
            |_: Array<Any>, mutator: &mut Mutator<i64>| -> Result<Any> {
                *mutator.state() += 1;
                let inside = mutator.mutate_children();
                *mutator.state() -= 1;
                inside
            },
        ),
    )?;
    assert_eq!(text_of(&mutated), r#"[11,[22,32],{"k":[42]}]"#);
    assert_eq!((text_of(&root).as_str(), depth), (r#"[1,[2,3],{"k":[4]}]"#, 0));
    let first: Any = root.structural_mutate((
        |n: i64, _: &mut Mutator| n + 1,
        |inner: Array<Any>, mutator: &mut Mutator| mutator.mutate::<Any>(&inner.get(0)?),
    ))?;
    assert_eq!(first.get::<i64>()?, 2);
    Ok(())
}

#[test]
fn mutations_change_in_place_what_nobody_refers_to() -> Result<()> {
    let place = |value: &Any| value.as_object().map(|object| object.as_ptr());
    let increment = |n: i64, _: &mut Mutator| n + 1;
    let (inner, other) = (array(&[int(2)])?, array(&[int(3)])?);
    let places = [place(&inner), place(&other)];
    let root = array(&[inner, other.clone()])?;
    let before = place(&root);
    let mutated: Any = root.structural_mutate((
        |_: Node<Array<Any>>, m: &mut Mutator| m.mutate_children::<Any>(),
        increment,
    ))?;
    assert_eq!((text_of(&mutated).as_str(), text_of(&other).as_str()), ("[[3],[4]]", "[3]"));
    let inside = mutated.get::<Array<Any>>()?;
    assert_eq!((place(&mutated), place(&inside.get(0)?)), (before, places[0]));
    assert_ne!(place(&inside.get(1)?), places[1]);
    drop(inside);
    // A closure that has a reference to its node sees it unchanged.
    let copied: Any = mutated.structural_mutate((
        |node: Array<Any>, m: &mut Mutator| {
            let changed = m.mutate_children::<Any>()?;
            assert_ne!(text_of(&Any::new(node)), text_of(&changed));
            Ok::<_, Error>(changed)
        },
        increment,
    ))?;
    assert_eq!(text_of(&copied), "[[4],[5]]");
    assert_ne!(place(&copied), before);
    Ok(())
}

#[test]
fn replaced_variables_are_replaced_where_they_are_used() -> Result<()> {
    let variable_type = node_type("test.closures.Variable", VARIABLE, [0, 0])?;
    let copy =
        Function::from_typed(move |variable: Any| pair(variable.type_index(), int(0), int(0)))?;
    add_hook(variable_type, "__ffi_shallow_copy__", &copy)?;
    let (old, new) = (pair(variable_type, int(1), int(1))?, pair(variable_type, int(2), int(2))?);
    let root = array(&[list(core::slice::from_ref(&old))?, old.clone()])?;
    let mutated: Array<Any> =
        root.structural_mutate(|inner: Array<Any>, mutator: &mut Mutator| {
            assert!(mutator.replacement(&old)?.is_none());
            mutator.replace(&old, &new)?;
            assert!(mutator.replacement(&old)?.is_some());
            assert_eq!(inner.len(), 2);
            mutator.mutate_children::<Any>()
        })?;
    let is_new =
        |value: Any| value.as_object().zip(new.as_object()).is_some_and(|(a, b)| a.ptr_eq(b));
    assert!(is_new(mutated.get(1)?) && is_new(mutated.get(0)?.get::<List<Any>>()?.get(0)?));
    Ok(())
}

#[test]
fn visitors_that_outlive_their_walk_are_refused() -> Result<()> {
    let type_index = node_type("test.closures.Leaks", TREE, [0, 0])?;
    let kept: ferrite_core::platform::sync::Mutex<Option<StructuralVisitor>> =
        ferrite_core::platform::sync::Mutex::new(None);
    let kept = std::sync::Arc::new(kept);
    let keeper = kept.clone();
    let hook = Function::from_typed(move |visitor: StructuralVisitor, _: Any| {
        *keeper.lock() = Some(visitor)
    })?;
    add_hook(type_index, "__s_visit__", &hook)?;
    let count = Cell::new(0);
    pair(type_index, int(1), int(2))?
        .structural_walk(WalkOrder::Pre, |_: &Any| count.set(count.get() + 1))?;
    let visitor = kept.lock().take().expect("the visitor");
    let error = operations::visit(visitor, AnyArg(int(5))).map(drop).unwrap_err();
    assert_eq!((error.kind_bytes(), count.get()), (&b"RuntimeError"[..], 1));
    Ok(())
}

#[test]
fn refused_memory_is_an_error() {
    let root = parse("[1, [2]]");
    let refusals = with_every_refusal(|| {
        let mut sum = 0;
        match root.structural_walk(WalkOrder::Pre, |n: i64| sum += n) {
            Ok(_) => assert_eq!(sum, 3),
            Err(error) => assert_eq!(error.kind_bytes(), b"MemoryError"),
        }
        match root.clone().structural_map::<Any, _, _>(WalkOrder::Post, |n: i64| n + 1) {
            Ok(mapped) => assert!(mapped.as_object().is_some()),
            Err(error) => assert_eq!(error.kind_bytes(), b"MemoryError"),
        }
    });
    assert!(refusals > 3);
}

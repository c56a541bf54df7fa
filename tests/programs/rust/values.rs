//! Text, copies, comparisons, graphs, walks and streams of values: the same source with the library
//! inside and beside it.

use ferrite::env::stream::{self, DeviceKey};
use ferrite::structural::{DefRegion, Mutator, Node, StructuralKey, Visitor, Walk, WalkOrder};
use ferrite::{Any, Array, Map, Result, String, Structural, dataclass, env, graph, json};

fn main() -> Result<()> {
    let value = json::parse(br#"{"name": "relu", "axes": [1, [2, 3]], "scale": 0.5}"#)?;
    println!("{}", json::stringify(&value, None)?);
    println!("{}", json::parse(b"[1 2]").unwrap_err());

    let copy = dataclass::deep_copy(&value)?;
    assert!(dataclass::recursive_eq(&value, &copy)?);
    assert_eq!(dataclass::recursive_hash(&value)?, dataclass::recursive_hash(&copy)?);
    println!("{}", dataclass::repr_print(&copy)?);
    let order = |lhs: i64, rhs: i64| dataclass::recursive_compare(&Any::from(lhs), &Any::from(rhs));
    println!("{} {} {}", order(1, 2)?, order(2, 2)?, order(3, 2)?);

    let text = graph::to_json_graph_string(&value, &Any::NONE)?;
    assert!(graph::from_json_graph_string(text.as_bytes())?.structural_equal(&value)?);
    let nodes = graph::to_json_graph(&Any::from(7), &Any::NONE)?;
    println!("{} {}", json::stringify(&nodes, None)?, graph::from_json_graph(&nodes)?.get::<i64>()?);

    structure(&value, &copy)?;
    let error =
        value.structural_walk(WalkOrder::Pre, |n: i64| u8::try_from(n - 3).map(drop).map_err(Into::into));
    println!("{}", error.map(drop).unwrap_err());

    // SAFETY: nothing uses the device.
    assert!(unsafe { stream::set(DeviceKey::new(2, 0), 8 as *mut _)? }.is_null());
    println!("{:?}", stream::get(DeviceKey::new(2, 0)));
    assert!(env::tensor_alloc::get().is_none());
    env::context::check_signals()
}

/// Compares, walks, visits, maps and mutates.
fn structure(value: &Any, copy: &Any) -> Result<()> {
    assert_eq!(value.structural_hash()?, copy.structural_hash()?);
    assert!(value.first_structural_mismatch(copy)?.is_none());
    let (mut sum, mut texts) = (0, Vec::new());
    value.structural_walk(WalkOrder::Pre, (|n: i64| sum += n, |s: &str| texts.push(s.to_owned())))?;
    println!("{sum} {texts:?}");
    let found = value.structural_walk(WalkOrder::Post, |n: i64, region: DefRegion| {
        assert!(!region.defines());
        if n > 1 { Walk::interrupt(n) } else { Ok(Walk::Continue) }
    })?;
    println!("{:?}", found.map(|n| n.get::<i64>()).transpose()?);

    let mut depths = (0, 0);
    value.structural_visit_with(&mut depths, |_: Array<Any>, v: &mut Visitor<(i64, i64)>| {
        let (depth, deepest) = *v.state();
        *v.state() = (depth + 1, deepest.max(depth + 1));
        let flow = v.in_region(DefRegion::SIMPLE, Visitor::visit_children);
        v.state().0 -= 1;
        flow
    })?;
    println!("{depths:?}");

    let doubled: Map<String, Any> = copy.clone().structural_map(WalkOrder::Post, |n: i64| 2 * n)?;
    let (left, right) = value.first_structural_mismatch(&doubled)?.expect("numbers differ");
    println!("{} {}", dataclass::repr_print(&left.clone().into())?, left.path_equal(&right)?);
    let steps = left.to_steps()?;
    println!("{} {:?}", steps.len(), steps.get(1)?.key().get::<i64>()?);

    let numbers = Array::from_slice(&[1, 2, 3])?;
    let place = |numbers: &Array<i64>| Any::new(numbers.clone()).as_object().map(|object| object.as_ptr());
    let before = place(&numbers);
    let numbers: Array<i64> = numbers.structural_map(WalkOrder::Post, |n: i64| n + 1)?;
    assert_eq!((place(&numbers), numbers.get(0)?), (before, 2));
    let reversed: Array<i64> = numbers.structural_mutate((
        |a: Array<i64>, m: &mut Mutator| -> Result<Array<i64>> {
            let inside: Array<i64> = m.mutate_children()?;
            Array::try_from_iter((0..a.len()).rev().map(|at| inside.get(at)).collect::<Result<Vec<_>>>()?)
        },
        |n: i64, _: &mut Mutator| n * 10,
    ))?;
    println!("{reversed:?}");
    let before = place(&reversed);
    let same: Array<i64> = reversed.structural_mutate((
        |_: Node<Array<i64>>, m: &mut Mutator| m.mutate_children::<Array<i64>>(),
        |n: i64, _: &mut Mutator| n + 1,
    ))?;
    println!("{same:?} {}", before == place(&same));

    let key = |value: &Any| StructuralKey::new(value.clone());
    let mut map: Map<StructuralKey, i64> = Map::new()?;
    map.insert(key(value)?, 1)?;
    println!("{:?}", map.get(&key(copy)?)?);
    Ok(())
}

//! Tests of the search for access paths: through fields, elements and entries, with several
//! matches, and with none.

use std::string::String as Text;
use std::vec::Vec;

use ferrite_core::abi::kTVMFFISEqHashKindTreeNode as TREE;
use ferrite_core::error;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use super::find_access_paths;
use crate::containers::{DictObject, MapObject};
use crate::dataclass::testing::{array, node_type, pair, set_part};
use crate::reflection::{AccessPath, VisitErrorContext};
use crate::structural::error_context::add_visit_context;

/// Creates an error context with these nodes, innermost first.
fn context(nodes: &[&Any]) -> Result<VisitErrorContext> {
    let mut error = error!(ValueError, "no");
    nodes.iter().for_each(|node| add_visit_context(&mut error, node.view()));
    Ok(error.extra_context().and_then(|context| context.downcast().ok()).expect("a context"))
}

fn text(path: &AccessPath) -> Result<Text> {
    let mut text = Text::new();
    for step in &path.to_steps()? {
        let step = step?;
        let key = step.key();
        text.push_str(&match key.try_get::<i64>()? {
            Some(index) => std::format!("[{index}]"),
            None => std::format!(".{}", key.get::<String>()?.as_str().unwrap_or("?")),
        });
    }
    Ok(text)
}

fn found(root: &Any, nodes: &[&Any], prefixes: bool) -> Result<Vec<Text>> {
    let paths = find_access_paths(root.get::<ObjectRef>()?, &context(nodes)?, prefixes)?;
    paths.iter().map(|path| text(&path?)).collect()
}

fn pair_class() -> Result<i32> {
    static CLASS: ferrite_core::platform::sync::Mutex<Option<i32>> =
        ferrite_core::platform::sync::Mutex::new(None);
    let mut class = CLASS.lock();
    match *class {
        Some(index) => Ok(index),
        None => Ok(*class.insert(node_type("test.access_paths.Pair", TREE, [0, 0])?)),
    }
}

fn node(first: Any, second: Any) -> Result<Any> {
    pair(pair_class()?, first, second)
}

fn leaf() -> Result<Any> {
    node(Any::NONE, Any::NONE)
}

#[test]
fn ways_go_through_fields_elements_and_entries() -> Result<()> {
    let target = leaf()?;
    let mut map = MapObject::with_capacity(0)?;
    map.insert(String::new("key")?.into(), array(&[leaf()?, target.clone()])?)?;
    let dict = DictObject::with_capacity(0)?;
    dict.insert(Any::from(8i64), Any::new(map))?;
    let root = node(leaf()?, Any::new(dict))?;
    assert_eq!(found(&root, &[&target, &root], false)?, [".second[8].key[1]"]);
    assert_eq!(found(&root, &[&target], false)?, [".second[8].key[1]"]);
    assert_eq!(found(&root, &[&root], false)?, [""]);
    assert!(found(&root, &[&leaf()?, &root], false)?.is_empty());
    Ok(())
}

#[test]
fn all_places_of_a_node_are_found_in_order() -> Result<()> {
    let shared = leaf()?;
    let middle = node(shared.clone(), Any::NONE)?;
    let root = node(array(&[shared.clone(), middle.clone()])?, shared.clone())?;
    assert_eq!(
        found(&root, &[&shared, &root], false)?,
        [".first[0]", ".first[1].first", ".second"]
    );
    // A node that was recorded twice in a row counts once.
    assert_eq!(found(&root, &[&shared, &shared, &middle, &middle], false)?, [".first[1].first"]);
    Ok(())
}

#[test]
fn prefixes_end_where_nothing_more_is_met() -> Result<()> {
    let (target, end) = (leaf()?, leaf()?);
    let middle = node(end, Any::NONE)?;
    let root = node(middle.clone(), leaf()?)?;
    assert!(found(&root, &[&target, &middle, &root], false)?.is_empty());
    assert_eq!(found(&root, &[&target, &middle, &root], true)?, [".first.first", ".second"]);
    assert_eq!(found(&root, &[&target, &middle], true)?, [".first.first"]);
    assert!(found(&root, &[&target], true)?.is_empty());
    Ok(())
}

#[test]
fn shared_values_are_searched_once() -> Result<()> {
    let mut value = leaf()?;
    for _ in 0..50 {
        value = node(value.clone(), array(&[value])?)?;
    }
    assert!(found(&value, &[&leaf()?], false)?.is_empty());
    assert!(found(&value, &[&leaf()?, &value], false)?.is_empty());
    Ok(())
}

#[test]
fn values_may_be_deep() -> Result<()> {
    let depth = if cfg!(feature = "std") && !cfg!(miri) { 20_000 } else { 50 };
    let target = leaf()?;
    let mut root = target.clone();
    for _ in 0..depth {
        root = node(Any::NONE, root)?;
    }
    let context = context(&[&target, &root])?;
    let paths = find_access_paths(root.get()?, &context, false)?;
    assert_eq!(paths.get(0)?.depth(), depth);
    Ok(())
}

#[test]
fn ways_do_not_go_in_circles() -> Result<()> {
    let target = leaf()?;
    let root = leaf()?;
    let middle = node(root.clone(), target.clone())?;
    set_part(&root, 0, array(&[root.clone(), middle.clone()])?);
    let outcome = found(&root, &[&target, &root], false);
    let with_middle = found(&root, &[&target, &middle], false);
    set_part(&root, 0, Any::NONE);
    assert_eq!(outcome?, [".first[1].second"]);
    assert_eq!(with_middle?, [".first[1].second"]);
    Ok(())
}

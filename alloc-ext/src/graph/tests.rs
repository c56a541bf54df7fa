//! Tests of JSON object graphs: round trips and errors.

use std::format;
use std::string::ToString;

use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::value::any::Any;
use ferrite_core::value::shape::Shape;
use ferrite_core::value::string::{Bytes, String};

use super::decode::from_tree;
use super::{from_json_graph, from_json_graph_string, reader, to_json_graph, to_json_graph_string};
use crate::containers::{Array, ArrayObject, DictObject, ListObject, MapObject};
use crate::dataclass::testing::{address, array};
use crate::json::Tree;
use crate::reflection::VisitInterrupt;
use crate::{dataclass, json, reflection};

fn text(content: &str) -> Result<Any> {
    String::new(content).map(Any::new)
}

/// Returns the JSON text of a value's graph. Asserts that both output forms agree and decode to the
/// value.
fn graph_of(value: &Any) -> Result<std::string::String> {
    let text = to_json_graph_string(value, &Any::NONE)?;
    let graph = to_json_graph(value, &Any::NONE)?;
    assert_eq!(json::stringify(&graph, None)?, text);
    for copy in [from_json_graph(&graph)?, from_json_graph_string(text.as_bytes())?] {
        assert!(dataclass::recursive_eq(value, &copy)?, "{text}");
    }
    Ok(text.as_str().expect("ASCII").to_string())
}

fn refusal(graph: &str) -> Error {
    from_json_graph_string(graph.as_bytes()).map(drop).expect_err(graph)
}

#[test]
fn plain_values_have_one_node() -> Result<()> {
    let device = DLDevice { device_type: 2, device_id: 3 };
    for (value, node) in [
        (Any::NONE, r#"{"type":"None"}"#),
        (Any::from(true), r#"{"type":"bool","data":true}"#),
        (Any::from(-7i64), r#"{"type":"int","data":-7}"#),
        (Any::from(0.5), r#"{"type":"float","data":0.5}"#),
        (text("a/b")?, r#"{"type":"ffi.String","data":"a\/b"}"#),
        (text("longer than seven")?, r#"{"type":"ffi.String","data":"longer than seven"}"#),
        (Any::new(Bytes::new(b"abc")?), r#"{"type":"ffi.Bytes","data":"YWJj"}"#),
        (Any::new(DLDataType::parse(b"float32")?), r#"{"type":"DataType","data":"float32"}"#),
        (Any::new(device), r#"{"type":"Device","data":[2,3]}"#),
        (Any::new(Shape::from_slice(&[1, -2])?), r#"{"type":"ffi.Shape","data":[1,-2]}"#),
    ] {
        assert_eq!(graph_of(&value)?, format!(r#"{{"root_index":0,"nodes":[{node}]}}"#));
    }
    Ok(())
}

#[test]
fn equal_keys_share_a_node() -> Result<()> {
    let shape = Any::new(Shape::from_slice(&[1])?);
    let same =
        array(&[Any::from(1i64), text("x")?, text("x")?, Any::from(1i64), shape.clone(), shape])?;
    assert_eq!(
        graph_of(&same)?,
        r#"{"root_index":3,"nodes":[{"type":"int","data":1},{"type":"ffi.String","data":"x"},{"type":"ffi.Shape","data":[1]},{"type":"ffi.Array","data":[0,1,1,0,2,2]}]}"#
    );
    let other = array(&[
        Any::from(1i64),
        Any::from(1.0),
        Any::from(true),
        Any::from(0.0),
        Any::from(-0.0),
    ])?;
    assert!(graph_of(&other)?.ends_with(r#"{"type":"ffi.Array","data":[0,1,2,3,4]}]}"#));
    Ok(())
}

#[test]
fn shared_objects_stay_shared() -> Result<()> {
    let list = Any::new(ListObject::from_slice(&[Any::NONE])?);
    let mut map = MapObject::with_capacity(0)?;
    map.insert(text("key")?, list.clone())?;
    let dict = DictObject::with_capacity(0)?;
    dict.insert(Any::from(1i64), list.clone())?;
    let all = array(&[Any::new(map), Any::new(dict), list])?;
    graph_of(&all)?;
    let copy: ArrayObject = from_json_graph(&to_json_graph(&all, &Any::NONE)?)?.get()?;
    let inner: ListObject = copy.get(2)?.get()?;
    inner.push(Any::from(5i64))?;
    let in_map: ListObject = copy.get(0)?.get::<MapObject>()?.at(text("key")?.view())?.get()?;
    let in_dict: ListObject =
        copy.get(1)?.get::<DictObject>()?.at(Any::from(1i64).view())?.get()?;
    assert_eq!((in_map.len(), in_dict.len()), (2, 2));
    Ok(())
}

#[test]
fn a_map_is_as_inserting_makes_it_whatever_came_before() -> Result<()> {
    let int = |number: i64| format!(r#"{{"type":"int","data":{number}}}"#);
    let map = |data: &str| format!(r#"{{"type":"ffi.Map","data":[{data}]}}"#);
    let nodes = [
        [int(1), int(2), int(3), int(4)].join(","),
        map("0,0,1,0,2,0,3,0,0,0"),
        map("0,0,1,0,2,0,3,0"),
        r#"{"type":"ffi.Array","data":[4,5]}"#.into(),
    ];
    let graph = format!(r#"{{"root_index":6,"nodes":[{}]}}"#, nodes.join(","));
    let maps: ArrayObject = from_json_graph_string(graph.as_bytes())?.get()?;
    let layout = |place: i64| -> Result<_> {
        let map: MapObject = maps.get(place)?.get()?;
        Ok((map.len(), map.is_dense()))
    };
    // A repeated key that arrives when a small map is full makes it dense.
    assert_eq!((layout(0)?, layout(1)?), ((4, true), (4, false)));
    Ok(())
}

#[test]
fn objects_are_their_fields() -> Result<()> {
    reflection::install()?;
    let object = Any::new(VisitInterrupt::new(text("why")?)?);
    assert_eq!(
        graph_of(&object)?,
        r#"{"root_index":1,"nodes":[{"type":"ffi.String","data":"why"},{"type":"ffi.VisitInterrupt","data":{"value":0}}]}"#
    );
    let defaults = from_json_graph_string(
        br#"{"root_index":0,"nodes":[{"type":"ffi.VisitInterrupt","data":{}}]}"#,
    )?;
    assert!(defaults.get::<VisitInterrupt>()?.value().is_none());
    let error =
        refusal(r#"{"root_index":0,"nodes":[{"type":"ffi.reflection.AccessStep","data":{}}]}"#);
    assert_eq!(
        error.message_bytes(),
        b"Required field `kind` not set in type `ffi.reflection.AccessStep`"
    );
    Ok(())
}

#[test]
fn big_integers_are_decimal_text() -> Result<()> {
    reflection::install()?;
    let digits = "-123456789012345678901234567890";
    let graph =
        format!(r#"{{"root_index":0,"nodes":[{{"type":"ffi.BigInt","data":"{digits}"}}]}}"#);
    assert_eq!(graph_of(&from_json_graph_string(graph.as_bytes())?)?, graph);
    Ok(())
}

#[test]
fn metadata_is_at_the_end() -> Result<()> {
    let text = to_json_graph_string(&Any::NONE, &array(&[Any::from(1i64)])?)?;
    assert_eq!(text, r#"{"root_index":0,"nodes":[{"type":"None"}],"metadata":[1]}"#);
    let graph: MapObject = to_json_graph(&Any::NONE, &Any::from(2i64))?.get()?;
    assert_eq!(graph.at(self::text("metadata")?.view())?.get::<i64>()?, 2);
    let error = to_json_graph_string(&Any::NONE, &Any::new(Bytes::new(b"x")?))
        .expect_err("bytes are no JSON");
    assert_eq!(error.message_bytes(), b"Unsupported type: `ffi.SmallBytes`");
    Ok(())
}

#[test]
fn values_without_a_form_are_refused() -> Result<()> {
    let refused = |value: &Any| to_json_graph(value, &Any::NONE).map(drop).expect_err("refused");
    let error = refused(&Any::new(Function::from_typed(|| 1i64)?));
    assert_eq!(error.kind_bytes(), b"TypeError");
    assert_eq!(
        error.message_bytes(),
        b"Type `ffi.Function` does not support ToJSONGraph (no native creator or __ffi_new__ type attr)"
    );
    let error = refused(&address(8));
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (&b"RuntimeError"[..], &b"Cannot serialize type `void*`"[..])
    );
    let list = ListObject::with_capacity(0)?;
    list.push(array(&[Any::new(list.clone())])?)?;
    let error = refused(&Any::new(list.clone()));
    assert_eq!(
        error.message_bytes(),
        b"Cycle detected during serialization: a List contains itself"
    );
    // The Array is the first object in the cycle, but upstream tracks mutable containers only.
    let error = refused(&list.get(0)?);
    assert_eq!(
        error.message_bytes(),
        b"Cycle detected during serialization: a List contains itself"
    );
    list.clear()?;
    Ok(())
}

#[test]
fn nodes_may_come_in_any_order() -> Result<()> {
    let graph = r#"{"root_index":0,"nodes":[{"type":"ffi.Array","data":[2,1,2]},{"type":"None"},{"type":"int","data":4},7]}"#;
    let array: Array<Any> = from_json_graph_string(graph.as_bytes())?.get()?;
    assert_eq!((array.len(), array.get(2)?.get::<i64>()?), (3, 4));
    Ok(())
}

#[test]
fn bad_graphs_are_refused() {
    for (graph, kind, message) in [
        ("[]", "ValueError", "Invalid JSON Object Graph, expected an object"),
        (
            r#"{"nodes":[]}"#,
            "ValueError",
            "Invalid JSON Object Graph, expected `root_index` integer field",
        ),
        (
            r#"{"root_index":true}"#,
            "ValueError",
            "Invalid JSON Object Graph, expected `root_index` integer field",
        ),
        (
            r#"{"root_index":0}"#,
            "ValueError",
            "Invalid JSON Object Graph, expected `nodes` array field",
        ),
    ] {
        let error = refusal(graph);
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (kind.as_bytes(), message.as_bytes())
        );
    }
    for (nodes, kind, message) in [
        ("", "ValueError", "Invalid JSON Object Graph: invalid node index 0"),
        ("1", "TypeError", "Cannot convert from type `int` to `Map<Any, Any>`"),
        ("{}", "KeyError", "key is not in Map"),
        (
            r#"{"type":"no.such"}"#,
            "InternalError",
            "Check failed: (it != type_key2index_.end()) is false: Cannot find type `no.such`",
        ),
        (
            r#"{"type":"ffi.Array","data":[-1]}"#,
            "ValueError",
            "Invalid JSON Object Graph: invalid node index -1",
        ),
        (
            r#"{"type":"ffi.Array","data":[1e30]}"#,
            "TypeError",
            "Cannot convert from type `float` to `int`",
        ),
        (
            r#"{"type":"ffi.List","data":[0]}"#,
            "ValueError",
            "Invalid JSON Object Graph: node 0 contains itself",
        ),
        (
            r#"{"type":"ffi.Map","data":[0]}"#,
            "ValueError",
            "Invalid JSON Object Graph: Map/Dict data must contain an even number of [key, value] entries, got 1",
        ),
        (
            r#"{"type":"Device","data":[1]}"#,
            "ValueError",
            "Invalid JSON Object Graph: Device data must be an array of [device_type, device_id], got 1 element(s)",
        ),
        (
            r#"{"type":"ffi.Tensor","data":{}}"#,
            "RuntimeError",
            "Type `ffi.Tensor` does not support reflection creation (no native creator or __ffi_new__ type attr)",
        ),
    ] {
        let error = refusal(&format!(r#"{{"root_index":0,"nodes":[{nodes}]}}"#));
        assert_eq!(
            (error.kind_bytes(), std::str::from_utf8(error.message_bytes())),
            (kind.as_bytes(), Ok(message)),
            "{nodes}"
        );
    }
}

/// Formats the outcome of decoding: the JSON text of the decoded value's graph, or the kind and
/// message of the error.
fn outcome(decoded: Result<Any>) -> Result<std::string::String> {
    match decoded {
        Ok(value) => {
            Ok(to_json_graph_string(&value, &Any::NONE)?.as_str().expect("UTF-8").to_string())
        }
        Err(error) => Ok(format!("{:?} {:?}", error.kind_bytes(), error.message_bytes())),
    }
}

#[test]
fn written_texts_are_read_at_once() -> Result<()> {
    reflection::install()?;
    let keys = array(&[text("a \"quoted\" key")?, text("short")?])?;
    let mut map = MapObject::with_capacity(0)?;
    map.insert(text("shape")?, Any::new(Shape::from_slice(&[1, -2])?))?;
    map.insert(text("other")?, Any::new(Bytes::new(&[0xfb, 0xff, 0xfe])?))?;
    let dict = DictObject::with_capacity(0)?;
    dict.insert(Any::from(1.25), Any::new(DLDataType::parse(b"float32x4")?))?;
    let list = ListObject::from_slice(&[Any::NONE, Any::from(true), Any::from(-7i64), keys])?;
    let device = Any::new(DLDevice { device_type: 2, device_id: 3 });
    let interrupt = Any::new(VisitInterrupt::new(Any::new(map))?);
    let all = array(&[interrupt, Any::new(dict), Any::new(list), device, array(&[])?])?;
    for metadata in [Any::NONE, text("of the graph")?] {
        let written = to_json_graph_string(&all, &metadata)?;
        let value = reader::read(written.as_bytes()).expect("as written");
        assert!(dataclass::recursive_eq(&all, &value)?);
        if metadata.is_none() {
            assert_eq!(outcome(Ok(value))?, written.as_str().expect("ASCII"));
        }
    }
    Ok(())
}

#[test]
fn fast_and_general_decoding_agree() -> Result<()> {
    reflection::install()?;
    let good = r#"{"root_index":6,"nodes":[{"type":"int","data":12},{"type":"ffi.String","data":"a\nb"},{"type":"None"},{"type":"float","data":1.5},{"type":"ffi.VisitInterrupt","data":{"value":1}},{"type":"ffi.Map","data":[1,0,3,4]},{"type":"ffi.Array","data":[5,2,0,0]}]}"#;
    assert!(reader::read(good.as_bytes()).is_some());
    let step = if cfg!(miri) { 31 } else { 1 };
    for at in (0..good.len()).step_by(step) {
        assert!(reader::read(&good.as_bytes()[..at]).is_none(), "{at}");
        for byte in *b" \"\\,:0159-.[]{}ne" {
            let mut text = good.as_bytes().to_vec();
            text[at] = byte;
            let tree = Tree::parse(&text).and_then(|tree| from_tree(&tree));
            assert_eq!(
                outcome(from_json_graph_string(&text))?,
                outcome(tree)?,
                "{}",
                std::string::String::from_utf8_lossy(&text)
            );
        }
    }
    Ok(())
}

#[test]
fn depth_is_no_matter() -> Result<()> {
    let depth = if cfg!(all(feature = "std", not(miri))) { 100_000 } else { 50 };
    let mut value = array(&[])?;
    for _ in 1..depth {
        value = array(&[value])?;
    }
    let text = to_json_graph_string(&value, &Any::NONE)?;
    let copy = from_json_graph_string(text.as_bytes())?;
    assert_eq!(to_json_graph_string(&copy, &Any::NONE)?, text);
    Ok(())
}

//! Properties of object graphs in JSON: both libraries write identical text, so each can read the
//! other's output.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn nodes() -> impl Strategy<Value = Node> {
    prop_oneof![60 => plain_leaves(), 45 => containers(), 30 => objects(all_classes()), 1 => leaves()]
}

fn there_and_back(
    library: &'static Library,
    value: &Value,
    metadata: &Value,
    seen: &mut Transcript,
) {
    seen.result("graph", &library.call("ffi.ToJSONGraph", &[value, metadata]));
    let text = library.call("ffi.ToJSONGraphString", &[value, metadata]);
    seen.result("text", &text);
    if let Ok(text) = text {
        let back = library.call("ffi.FromJSONGraphString", &[&text]);
        seen.result("back", &back);
        if let Ok(back) = back {
            let flags = [true, false].map(|flag| Value::bool(library, flag));
            seen.result(
                "hash",
                &library.call("ffi.StructuralHash", &[&back, &flags[0], &flags[1]]),
            );
        }
    }
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn there_and_back_again() -> Outcome<()> {
    let metadata = graphs(prop_oneof![json_leaves(), json_containers()], 5);
    let inputs = move || (graphs(nodes(), 20), prop::option::of(metadata));
    check("object_graph", 5_000, inputs, |library, (graph, metadata), seen| {
        let metadata =
            metadata.as_ref().map_or(Value::none(library), |metadata| build(library, metadata));
        there_and_back(library, &build(library, graph), &metadata, seen);
    })
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn cycles() -> Outcome<()> {
    check(
        "object_graph_cycles",
        1_000,
        || cyclic_graphs(nodes(), 10),
        |library, graph, seen| {
            let knot = Knot::tie(library, graph);
            seen.result(
                "text",
                &library.call("ffi.ToJSONGraphString", &[knot.value(), &Value::none(library)]),
            );
        },
    )
}

/// Replacement values for expected ones. None is a node's index, nor is `true`: a node that
/// contains itself would crash upstream.
const WORDS: [&str; 23] = [
    "99",
    "-1",
    "1.5",
    "99999999999",
    "null",
    "\"\"",
    "\"x\"",
    "\"QUJD\"",
    "\"QUI=\"",
    "\"QQ==\"",
    "\"Q\"",
    "\"float32\"",
    "\"123456789012345678901234567890\"",
    "[]",
    "[99]",
    "[99,99]",
    "[1.5]",
    "{}",
    "{\"left\":99}",
    "{\"type\":null}",
    "\"ffi.Array\"",
    "\"parity.Tree\"",
    "\"unknown.Key\"",
];

/// Data of nodes, with `@` for the index of an earlier node. The first node is valid, and there is
/// at most one fault: which of an entry's key and value upstream reads first depends on its
/// compiler.
const DATA: [&str; 12] = [
    "true",
    "[@]",
    "[@,@]",
    "[@,@,@]",
    "[0,99]",
    "[null,0]",
    "{\"left\":@}",
    "{\"left\":@,\"right\":@}",
    "{\"content\":@}",
    "{\"left\":@,\"right\":@,\"more\":null}",
    "{\"left\":@,\"right\":1.5}",
    "[0,[]]",
];

/// Types of nodes, whether or not the data matches.
const TYPES: [&str; 22] = [
    "None",
    "bool",
    "int",
    "float",
    "ffi.String",
    "ffi.Bytes",
    "DataType",
    "Device",
    "ffi.Array",
    "ffi.List",
    "ffi.Map",
    "ffi.Dict",
    "ffi.Shape",
    "ffi.BigInt",
    "ffi.Tensor",
    "ffi.Function",
    "ffi.SmallStr",
    "ffi.Object",
    "parity.Tree",
    "parity.Plain",
    "parity.Incomparable",
    "unknown.Key",
];

/// Generates synthetic graphs: a type and data for each node, and a root, usually the last node.
fn documents() -> impl Strategy<Value = String> {
    let data = prop_oneof![3 => select(DATA.to_vec()), 2 => select(WORDS.to_vec())];
    let node = (select(TYPES.to_vec()), prop::option::weighted(0.95, data), any::<Index>());
    let root = prop::option::weighted(0.1, select(WORDS.to_vec()));
    (root, prop::collection::vec(node, 0..4)).prop_map(|(root, nodes)| {
        let root = root.map_or(nodes.len().to_string(), String::from);
        let nodes: Vec<String> =
            nodes.iter().zip(1..).map(|(node, at)| describe(node, at)).collect();
        format!("{{\"root_index\":{root},\"nodes\":[{{\"type\":\"None\"}}{}]}}", nodes.concat())
    })
}

/// Returns the text of node `at`.
fn describe((key, data, earlier): &(&str, Option<&str>, Index), at: usize) -> String {
    let earlier = earlier.index(at);
    let data = data.map(|data| data.replace('@', &earlier.to_string()));
    data.map_or(format!(",{{\"type\":\"{key}\"}}"), |data| {
        format!(",{{\"type\":\"{key}\",\"data\":{data}}}")
    })
}

/// Replaces words of a valid text by other valid JSON words.
fn with_changes(text: &str, changes: &[(Index, &str)]) -> String {
    let mut text = text.to_owned();
    for (at, word) in changes {
        let places: Vec<_> =
            text.match_indices([':', ',', '[']).map(|(place, _)| place + 1).collect();
        if places.is_empty() {
            break;
        }
        let start = *at.get(&places);
        let length = text[start..].find([',', ']', '}']).unwrap_or(0);
        text.replace_range(start..start + length, word);
    }
    text
}

fn read(library: &'static Library, text: &str, seen: &mut Transcript) {
    seen.result(text, &library.call("ffi.FromJSONGraphString", &[&Value::string(library, text)]));
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn graphs_that_nobody_wrote() -> Outcome<()> {
    check("object_graph_read", 10_000, documents, |library, text, seen| read(library, text, seen))
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn graphs_that_somebody_changed() -> Outcome<()> {
    // Excludes types, since the data of a Shape are not numbers of nodes.
    let words = WORDS.iter().filter(|word| !word.contains('.') || word.starts_with('1')).copied();
    let changes = prop::collection::vec((any::<Index>(), select(words.collect::<Vec<_>>())), 1..2);
    let inputs = move || {
        (graphs(prop_oneof![plain_leaves(), containers(), objects(all_classes())], 6), changes)
    };
    check("object_graph_changed", 5_000, inputs, |library, (graph, changes), seen| {
        let text =
            library.call("ffi.ToJSONGraphString", &[&build(library, graph), &Value::none(library)]);
        // Some data types are written in a form that no library reads, which would be a second
        // fault.
        let good = |text: &Value| library.call("ffi.FromJSONGraphString", &[text]).is_ok();
        if let Some(text) = text.ok().filter(good) {
            let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
            read(library, &with_changes(&text, changes), seen);
        }
    })
}

//! Properties of JSON output: every value with every indentation, including cycles and values that
//! JSON cannot represent.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;

fn indents() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![1 => Just(None), 3 => (-2..9i64).prop_map(Some)]
}

fn write(library: &'static Library, value: &Value, indent: Option<i64>, seen: &mut Transcript) {
    let indent = indent.map_or(Value::none(library), |indent| Value::int(library, indent));
    seen.result("stringify", &library.call("ffi.json.Stringify", &[value, &indent]));
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn writing_json() -> Outcome<()> {
    let nodes =
        prop_oneof![40 => json_leaves(), 60 => json_containers(), 1 => leaves(), 1 => containers()];
    check(
        "json_stringify",
        6_000,
        || (graphs(nodes, 30), indents()),
        |library, (graph, indent), seen| {
            write(library, &build(library, graph), *indent, seen);
        },
    )
}

/// Writes lists that contain themselves.
#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn writing_cycles() -> Outcome<()> {
    let nodes = prop_oneof![1 => json_leaves(), 3 => json_containers()];
    check(
        "json_cycles",
        1_000,
        || (cyclic_graphs(nodes, 12), indents()),
        |library, (graph, indent), seen| {
            let knot = Knot::tie(library, graph);
            write(library, knot.value(), *indent, seen);
        },
    )
}

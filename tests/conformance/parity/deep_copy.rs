//! Properties of deep copies: content, and sharing within the copy and with the original.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;

fn nodes() -> impl Strategy<Value = Node> {
    prop_oneof![4 => leaves(), 3 => containers(), 2 => objects(all_classes())]
}

fn copy(library: &'static Library, value: &Value, seen: &mut Transcript) {
    let copy = library.call("ffi.DeepCopy", &[value]);
    seen.result("copy", &copy);
    if let Ok(copy) = copy {
        // The text of both in one array shows what they share.
        let both = library.call("ffi.Array", &[value, &copy]).expect("an array is made");
        seen.note(both);
    }
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn copying_values() -> Outcome<()> {
    check(
        "deep_copy",
        5_000,
        || graphs(nodes(), 25),
        |library, graph, seen| {
            copy(library, &build(library, graph), seen);
        },
    )
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn copying_cycles() -> Outcome<()> {
    check(
        "deep_copy_cycles",
        1_000,
        || cyclic_graphs(nodes(), 12),
        |library, graph, seen| {
            let knot = Knot::tie(library, graph);
            copy(library, knot.value(), seen);
        },
    )
}

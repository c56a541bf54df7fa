//! Properties of the printed form.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;

/// Generates every kind of value and every class.
fn nodes() -> impl Strategy<Value = Node> {
    prop_oneof![4 => leaves(), 3 => containers(), 2 => objects(all_classes())]
}

fn print(library: &'static Library, value: &Value, seen: &mut Transcript) {
    let text = library.call("ffi.ReprPrint", &[value]);
    seen.result("repr", &text.map(|text| without_addresses(&text.to_string())));
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn printing_values() -> Outcome<()> {
    check(
        "repr",
        6_000,
        || graphs(nodes(), 25),
        |library, graph, seen| print(library, &build(library, graph), seen),
    )
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn printing_cycles() -> Outcome<()> {
    check(
        "repr_cycles",
        1_000,
        || cyclic_graphs(nodes(), 12),
        |library, graph, seen| {
            print(library, Knot::tie(library, graph).value(), seen);
        },
    )
}

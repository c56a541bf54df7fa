//! Properties of recursive order, equality and hash.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;

const RELATIONS: [&str; 5] =
    ["RecursiveEq", "RecursiveLt", "RecursiveLe", "RecursiveGt", "RecursiveGe"];

/// Generates values without functions, which hash by address.
fn nodes() -> impl Strategy<Value = Node> {
    prop_oneof![4 => plain_leaves(), 3 => containers(), 2 => objects(all_classes())]
}

fn compare(library: &'static Library, [one, other]: [&Value; 2], seen: &mut Transcript) {
    for name in RELATIONS {
        seen.result(name, &library.call(&format!("ffi.{name}"), &[one, other]));
    }
    for value in [one, other] {
        seen.result("hash", &library.call("ffi.RecursiveHash", &[value]));
    }
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn near_equal_values() -> Outcome<()> {
    check(
        "recursive",
        8_000,
        || twin_graphs(nodes, 20),
        |library, twins, seen| {
            let [one, other] = build_twins(library, twins);
            compare(library, [&one, &other], seen);
        },
    )
}

/// Compares every pair of values in a graph.
#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn any_two_values() -> Outcome<()> {
    check(
        "recursive_any",
        300,
        || graphs(nodes(), 12),
        |library, graph, seen| {
            let values = build_all(library, graph);
            for one in &values {
                values.iter().for_each(|other| compare(library, [one, other], seen));
            }
        },
    )
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn cycles() -> Outcome<()> {
    check(
        "recursive_cycles",
        1_000,
        || cyclic_graphs(nodes(), 10),
        |library, graph, seen| {
            let knots = [(); 2].map(|()| Knot::tie(library, graph));
            compare(library, [knots[0].value(), knots[1].value()], seen);
        },
    )
}

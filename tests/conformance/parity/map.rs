//! Properties of Maps and Arrays, which are immutable: construction, and every query.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;
use proptest::sample::Index;

type Input = (Graph, Vec<(Index, Index)>, Vec<Index>);

fn inputs(entries: usize) -> impl Strategy<Value = Input> {
    let nodes = prop_oneof![8 => leaves(), 1 => containers(), 1 => objects(0..3)];
    let pairs = prop::collection::vec(any::<(Index, Index)>(), 0..entries);
    (graphs(nodes, entries), pairs, prop::collection::vec(any::<Index>(), 0..20))
}

fn observe_map(library: &'static Library, (pool, pairs, questions): &Input, seen: &mut Transcript) {
    let pool = build_all(library, pool);
    let arguments: Vec<&Value> =
        pairs.iter().flat_map(|(key, value)| [key.get(&pool), value.get(&pool)]).collect();
    let map = library.call("ffi.Map", &arguments).expect("a map takes every value");
    seen.note(&map);
    for question in questions {
        for name in ["ffi.MapGetItem", "ffi.MapGetItemOrMissing", "ffi.MapCount"] {
            seen.result(name, &library.call(name, &[&map, question.get(&pool)]));
        }
    }
}

fn observe_array(
    library: &'static Library,
    (pool, elements, questions): &Input,
    seen: &mut Transcript,
) {
    let pool = build_all(library, pool);
    let arguments: Vec<&Value> = elements.iter().map(|(element, _)| element.get(&pool)).collect();
    let array = library.call("ffi.Array", &arguments).expect("an array takes every value");
    seen.note(&array);
    for question in questions {
        seen.result("contains", &library.call("ffi.ArrayContains", &[&array, question.get(&pool)]));
        let place = Value::int(library, question.index(arguments.len() + 4) as i64 - 2);
        seen.result("item", &library.call("ffi.ArrayGetItem", &[&array, &place]));
    }
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn maps() -> Outcome<()> {
    let sizes = prop_oneof![3 => inputs(8), 2 => inputs(40), 1 => inputs(200)];
    check("map", 1_000, || sizes, observe_map)
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn arrays() -> Outcome<()> {
    check("array", 1_000, || inputs(30), observe_array)
}

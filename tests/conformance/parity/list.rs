//! Property: thousands of operations on two Lists, each of which may be inserted into the other or
//! into itself.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;
use proptest::sample::Index;

/// One call on one of the lists. Indices range from -2 to two past the end.
#[derive(Clone, Debug)]
enum Step {
    Append(Index),
    Insert(Index, Index),
    Set(Index, Index),
    Get(Index),
    Pop(Index),
    Erase(Index),
    EraseRange(Index, Index),
    /// Replaces the range by the other list, or by this one.
    ReplaceSlice(Index, Index, bool),
    Reserve(i64),
    Contains(Index),
    Reverse,
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let index = any::<Index>;
    let two = any::<(Index, Index)>;
    let step = prop_oneof![
        12 => index().prop_map(Step::Append),
        6 => two().prop_map(|(place, value)| Step::Insert(place, value)),
        3 => two().prop_map(|(place, value)| Step::Set(place, value)),
        3 => index().prop_map(Step::Get),
        4 => index().prop_map(Step::Pop),
        4 => index().prop_map(Step::Erase),
        1 => two().prop_map(|(start, stop)| Step::EraseRange(start, stop)),
        1 => (index(), index(), any::<bool>()).prop_map(|(start, stop, other)| Step::ReplaceSlice(start, stop, other)),
        1 => (-1..200i64).prop_map(Step::Reserve),
        1 => index().prop_map(Step::Contains),
        1 => Just(Step::Reverse),
        1 => prop::bool::weighted(0.1).prop_map(|clear| if clear { Step::Clear } else { Step::Reverse }),
    ];
    prop::collection::vec((any::<bool>(), step), 1..2_000)
}

fn observe(
    library: &'static Library,
    (pool, steps): &(Graph, Vec<(bool, Step)>),
    seen: &mut Transcript,
) {
    let pool = build_all(library, pool);
    let lists = [(); 2].map(|()| library.call("ffi.List", &[]).expect("a list is made"));
    for (at, (which, step)) in steps.iter().enumerate() {
        let list = &lists[usize::from(*which)];
        // Each replacement by itself doubles a list.
        if size(list) > 500 {
            seen.result("clear", &library.call("ffi.ListClear", &[list]));
        }
        apply(list, &lists[usize::from(!which)], step, &pool, seen);
        if at % 100 == 0 || at + 1 == steps.len() {
            lists.iter().for_each(|list| seen.note(list));
        }
    }
}

fn size(list: &Value) -> i64 {
    list.library().call("ffi.ListSize", &[list]).expect("a list has a size").as_int()
}

fn apply(list: &Value, other: &Value, step: &Step, pool: &[Value], seen: &mut Transcript) {
    let library = list.library();
    let places = size(list) as usize + 5;
    let place = |index: &Index| Value::int(library, index.index(places) as i64 - 2);
    let value = |index: &Index| index.get(pool).clone();
    let (name, arguments) = match step {
        Step::Append(element) => ("Append", vec![value(element)]),
        Step::Insert(at, element) => ("Insert", vec![place(at), value(element)]),
        Step::Set(at, element) => ("SetItem", vec![place(at), value(element)]),
        Step::Get(at) => ("GetItem", vec![place(at)]),
        Step::Pop(at) => ("Pop", vec![place(at)]),
        Step::Erase(at) => ("Erase", vec![place(at)]),
        Step::EraseRange(start, stop) => ("EraseRange", vec![place(start), place(stop)]),
        Step::ReplaceSlice(start, stop, by_other) => {
            let replacement = if *by_other { other } else { list };
            ("ReplaceSlice", vec![place(start), place(stop), replacement.clone()])
        }
        Step::Reserve(capacity) => ("Reserve", vec![Value::int(library, *capacity)]),
        Step::Contains(element) => ("Contains", vec![value(element)]),
        Step::Reverse => ("Reverse", vec![]),
        Step::Clear => ("Clear", vec![]),
    };
    let arguments: Vec<&Value> = std::iter::once(list).chain(&arguments).collect();
    seen.result(name, &library.call(&format!("ffi.List{name}"), &arguments));
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn operations_on_lists() -> Outcome<()> {
    let nodes = prop_oneof![8 => leaves(), 1 => containers()];
    check("list", 150, || (graphs(nodes, 40), steps()), observe)
}

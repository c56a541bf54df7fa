//! Property: thousands of operations on a Dict give the same results and the same order at every
//! step.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;
use proptest::sample::Index;

/// One call, with keys and values chosen from a pool.
#[derive(Clone, Debug)]
enum Step {
    Set(Index, Index),
    Get(Index),
    GetOrMissing(Index),
    Count(Index),
    Erase(Index),
    Clear,
}

/// Generates phases of growth and shrinking, so that tables pass through all sizes.
fn steps(length: usize) -> impl Strategy<Value = Vec<Step>> {
    let phase = |sets: u32, erases: u32| {
        prop_oneof![
            sets => any::<(Index, Index)>().prop_map(|(key, value)| Step::Set(key, value)),
            erases => any::<Index>().prop_map(Step::Erase),
            2 => any::<Index>().prop_map(Step::Get),
            1 => any::<Index>().prop_map(Step::GetOrMissing),
            2 => any::<Index>().prop_map(Step::Count),
        ]
    };
    let phases = prop_oneof![
        6 => prop::collection::vec(phase(8, 2), 1..length / 4),
        4 => prop::collection::vec(phase(2, 8), 1..length / 8),
        1 => Just(vec![Step::Clear]),
    ];
    prop::collection::vec(phases, 6..16).prop_map(|phases| phases.concat())
}

/// Makes the calls. Returns the Dict for further inspection.
fn run(
    library: &'static Library,
    (pool, steps): &(Graph, Vec<Step>),
    every: usize,
    seen: &mut Transcript,
) -> Value {
    let pool = build_all(library, pool);
    let dict = library.call("ffi.Dict", &[]).expect("a dict is made");
    for (at, step) in steps.iter().enumerate() {
        let (name, arguments) = match step {
            Step::Set(key, value) => ("SetItem", vec![key, value]),
            Step::Get(key) => ("GetItem", vec![key]),
            Step::GetOrMissing(key) => ("GetItemOrMissing", vec![key]),
            Step::Count(key) => ("Count", vec![key]),
            Step::Erase(key) => ("Erase", vec![key]),
            Step::Clear => ("Clear", vec![]),
        };
        let arguments = arguments.into_iter().map(|at| at.get(&pool));
        let arguments: Vec<&Value> = std::iter::once(&dict).chain(arguments).collect();
        seen.result(name, &library.call(&format!("ffi.Dict{name}"), &arguments));
        if at % every == 0 {
            seen.note(library.call("ffi.DictSize", &[&dict]).expect("a dict has a size"));
            seen.note(&dict);
        }
    }
    seen.note(&dict);
    dict
}

/// Uses keys of every kind, including objects that hash by address.
#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn operations_on_a_dict() -> Outcome<()> {
    let keys = prop_oneof![8 => leaves(), 1 => containers(), 1 => objects(0..3)];
    check(
        "dict",
        60,
        || (prop::collection::vec(keys, 1..400), steps(1_000)),
        |library, input, seen| {
            run(library, input, 40, seen);
        },
    )
}

fn repeated_to_10_000(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().cycle().take(10_000).collect()
}

/// Performs ten thousand operations with clustered hashes, on tables of a thousand entries.
#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn operations_on_a_large_dict() -> Outcome<()> {
    let keys = prop_oneof![4 => (0..2_000i64).prop_map(Node::Int), 1 => texts().prop_map(Node::Text), 1 => floats().prop_map(Node::Float)];
    check(
        "dict_large",
        12,
        || (prop::collection::vec(keys, 1_000..2_000), steps(10_000).prop_map(repeated_to_10_000)),
        |library, input, seen| {
            let dict = run(library, input, 500, seen);
            seen.note(format_args!("{} slots", slots(&dict)));
        },
    )
}

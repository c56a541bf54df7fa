//! Property: every global function gives the same results and errors, with arguments that match its
//! signature except for at most one.
//!
//! Of several wrong arguments, upstream reports the one that its compiler converts first.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;

const LEFT_OUT: [&str; 9] = [
    // Functions that load files.
    "ffi.Module.load_from_file.so",
    "ffi.ModuleLoadFromFile",
    // Functions that take or return addresses.
    "ffi.FunctionFromExternC",
    "ffi.MakeFieldGetter",
    "ffi.MakeFieldSetter",
    // Functions that change the type table, or abort upstream's process for an unknown type.
    "ffi.MakeObjectFromPackedArgs",
    "ffi._PyClassRegisterTypeAttrColumns",
    "ffi._RegisterFFIInit",
    // Creates paths that may or may not share steps; compared as text in `structural`.
    "ffi.GetFirstStructuralMismatch",
];

/// Returns all names with their metadata.
fn all(library: &'static Library) -> Vec<(Value, Value)> {
    let name_of =
        library.call("ffi.FunctionListGlobalNamesFunctor", &[]).expect("names can be listed");
    let ask = |at| name_of.call(&[&Value::int(library, at)]).expect("there are so many names");
    let count = ask(-1).as_int();
    let of = |name: Value| {
        let metadata =
            library.call("ffi.GetGlobalFuncMetadata", &[&name]).expect("the function is there");
        (name, metadata)
    };
    (0..count).map(|at| of(ask(at))).collect()
}

/// Parameter types for which no values are generated, so that these arguments are always wrong.
const OTHERS: [&str; 3] =
    ["ffi.StructuralVisitor", "ffi.StructuralMutator", "ffi.VisitErrorContext"];

/// A function, and its parameter types if it has a signature.
type Signature = (String, Option<Vec<String>>);

fn signatures() -> Vec<Signature> {
    let library = Pair::get().expect("loaded before").upstream;
    let text = |value: &Value| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let known =
        all(library).into_iter().map(|(name, metadata)| (text(&name), parameters(&metadata)));
    known.filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())).collect()
}

/// Returns the parameter types, from the JSON text inside the metadata's JSON text.
fn parameters(metadata: &Value) -> Option<Vec<String>> {
    let library = metadata.library();
    let parse = |text: &Value| library.call("ffi.json.Parse", &[text]).expect("metadata is JSON");
    let member = |map: &Value, key| {
        library.call("ffi.MapGetItem", &[map, &Value::string(library, key)]).ok()
    };
    let schema = parse(&member(&parse(metadata), "type_schema")?);
    let list = member(&member(&schema, "named_args")?, "params")?;
    let size = library.call("ffi.ArraySize", &[&list]).expect("parameters are a list").as_int();
    let item = |at| library.call("ffi.ArrayGetItem", &[&list, &Value::int(library, at)]).ok();
    let types = (0..size).map(|at| member(&item(at)?, "type"));
    types.map(|name| Some(String::from_utf8_lossy(name?.as_bytes()).into_owned())).collect()
}

/// Generates arguments of every kind that hashes by content. Integers are small or exceed 64 bits,
/// since some are sizes.
fn anything() -> impl Strategy<Value = Node> {
    let leaves = plain_leaves().prop_map(|node| match node {
        Node::Int(value) => Node::Int(value % 10),
        Node::BigInt(words) => Node::BigInt([&words[..], &[1]].concat()),
        other => other,
    });
    prop_oneof![4 => leaves, 4 => containers(), 2 => objects(classes_without_variables())]
}

fn of_type(function: &str, parameter: &str) -> BoxedStrategy<Node> {
    let elements = prop::collection::vec(any::<Index>(), 0..5);
    let pairs = prop::collection::vec(any::<(Index, Index)>(), 0..5);
    match parameter {
        "int" => (-3..8i64).prop_map(Node::Int).boxed(),
        "bool" => any::<bool>().prop_map(Node::Bool).boxed(),
        "ffi.String" => texts().prop_map(Node::Text).boxed(),
        "ffi.Bytes" => texts().prop_map(Node::Bytes).boxed(),
        "ffi.Function" => Just(Node::Function("ffi.ReprPrint")).boxed(),
        // Lists of callbacks by type are empty, to have at most one wrong argument.
        "ffi.Array" if function.starts_with("ffi.Structural") => {
            Just(Node::Array(Vec::new())).boxed()
        }
        "ffi.Array" => elements.prop_map(Node::Array).boxed(),
        "ffi.List" => elements.prop_map(Node::List).boxed(),
        "ffi.Map" => pairs.prop_map(Node::Map).boxed(),
        "ffi.Dict" => pairs.prop_map(Node::Dict).boxed(),
        "ffi.Object" => objects(classes_without_variables()).boxed(),
        "ffi.Module" => Just(Node::Call("ffi.SystemLib")).boxed(),
        "Optional" => Just(Node::None).boxed(),
        _ => anything().boxed(),
    }
}

/// Generates a function name, a list of nodes, and the number of nodes at its end that are the
/// arguments.
fn calls() -> impl Strategy<Value = (String, Graph, usize)> {
    select(signatures()).prop_flat_map(|(name, types)| {
        let fitting = types.as_ref().map(|types| {
            types.iter().map(|parameter| of_type(&name, parameter)).collect::<Vec<_>>()
        });
        let arguments = match fitting {
            Some(fitting) => fitting.boxed(),
            None => prop::collection::vec(anything(), 0..5).boxed(),
        };
        let others = types.iter().flatten().any(|parameter| OTHERS.contains(&parameter.as_str()));
        let wrong = prop::option::weighted(0.4, (any::<Index>(), anything()));
        let count = prop_oneof![9 => Just(0), 1 => -1..2isize];
        (Just(name), prop::collection::vec(anything(), 0..6), arguments, wrong, count).prop_map(
            move |(name, mut graph, mut arguments, wrong, more)| {
                if let Some((at, node)) = wrong
                    && !others
                    && !arguments.is_empty()
                {
                    let at = at.index(arguments.len());
                    arguments[at] = node;
                }
                let count = arguments.len().saturating_add_signed(more);
                graph.extend(arguments);
                let count = count.min(graph.len());
                (name, graph, count)
            },
        )
    })
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn the_same_functions_with_the_same_metadata() -> Outcome<()> {
    let pair = Pair::get()?;
    let texts = |(name, metadata): (Value, Value)| (name.to_string(), metadata.to_string());
    let [ours, upstream] = [pair.ours, pair.upstream]
        .map(|library| all(library).into_iter().map(texts).collect::<BTreeMap<_, _>>());
    println!("{} functions", upstream.len());
    let differs = upstream.iter().find(|(name, metadata)| ours.get(*name) != Some(metadata));
    match differs {
        Some((name, theirs)) => {
            Err(format!("{name}\n  upstream's: {theirs}\n  ours: {:?}", ours.get(name)).into())
        }
        None => Ok(()),
    }
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn calls_by_chance() -> Outcome<()> {
    check("functions", 8_000, calls, |library, (name, graph, count), seen| {
        let values = build_all(library, graph);
        let arguments: Vec<&Value> = values[values.len() - count..].iter().collect();
        seen.result(name, &library.call(name, &arguments));
        arguments.iter().for_each(|value| seen.note(value));
    })
}

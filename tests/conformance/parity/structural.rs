//! Properties of structural equality, of the first mismatch, and of the structural hash.

use crate::support::*;
use ferrite_tests::Outcome;
use proptest::prelude::*;

/// Whether free variables are mapped, and whether tensor content is ignored.
type Flags = (bool, bool);

/// Generates values without variables, whose hashes are the same in every process.
fn closed() -> impl Strategy<Value = Node> {
    prop_oneof![4 => plain_leaves(), 3 => containers(), 3 => objects(classes_without_variables())]
}

/// Generates values of few kinds with variables, so that many correspond.
fn open() -> impl Strategy<Value = Node> {
    let few = prop_oneof![Just(Node::None), (0..2i64).prop_map(Node::Int)];
    prop_oneof![1 => few, 2 => containers(), 3 => objects(classes_with_variables()), 3 => objects(all_classes())]
}

/// Generates values without structure, too: functions, and the class that declares itself
/// unsupported.
fn anything() -> impl Strategy<Value = Node> {
    prop_oneof![4 => leaves(), 3 => containers(), 3 => objects(all_classes())]
}

fn compare(
    library: &'static Library,
    [one, other]: [&Value; 2],
    flags: Flags,
    seen: &mut Transcript,
) {
    let flags = [flags.0, flags.1].map(|flag| Value::bool(library, flag));
    let arguments = [one, other, &flags[0], &flags[1]];
    seen.result("equal", &library.call("ffi.StructuralEqual", &arguments));
    let paths = library.call("ffi.GetFirstStructuralMismatch", &arguments);
    // Compared as text, since sharing between paths is unspecified.
    let paths = paths.and_then(|paths| library.call("ffi.ReprPrint", &[&paths]));
    seen.result("mismatch", &paths.map(|text| without_addresses(&text.to_string())));
}

fn hash(library: &'static Library, value: &Value, flags: Flags) -> Result<Value, Raised> {
    let [map_free_vars, skip_tensor_content] =
        [flags.0, flags.1].map(|flag| Value::bool(library, flag));
    library.call("ffi.StructuralHash", &[value, &map_free_vars, &skip_tensor_content])
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn closed_values() -> Outcome<()> {
    let inputs = || (twin_graphs(closed, 20), any::<Flags>());
    check("structural", 8_000, inputs, |library, (twins, flags), seen| {
        let [one, other] = build_twins(library, twins);
        compare(library, [&one, &other], *flags, seen);
        for value in [one, other] {
            seen.result("hash", &hash(library, &value, *flags));
        }
    })
}

/// With mapped variables, the hash numbers them; otherwise it is their address, so only equality of
/// hashes can be compared.
#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn values_with_variables() -> Outcome<()> {
    let inputs = || (twin_graphs(open, 16), any::<Flags>());
    check("structural_variables", 8_000, inputs, |library, (twins, flags), seen| {
        let [one, other] = build_twins(library, twins);
        compare(library, [&one, &other], *flags, seen);
        compare(library, [&one, &one], *flags, seen);
        let hashes = [&one, &other].map(|value| hash(library, value, *flags));
        if flags.0 {
            hashes.iter().for_each(|hash| seen.result("hash", hash));
        } else {
            let [one, other] = hashes.map(|hash| hash.map(|hash| hash.as_int()));
            seen.note(format_args!("same hash: {}", one == other));
        }
    })
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn values_without_structure() -> Outcome<()> {
    let inputs = || (twin_graphs(anything, 12), any::<Flags>());
    check("structural_errors", 3_000, inputs, |library, (twins, flags), seen| {
        let [one, other] = build_twins(library, twins);
        compare(library, [&one, &other], *flags, seen);
        if let Err(error) = hash(library, &one, *flags) {
            seen.note(error);
        }
    })
}

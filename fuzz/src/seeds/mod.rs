//! Seeds of the corpus: programs as a client would write them, a few for each section of the
//! header.

mod classes;
mod legacy;
mod libraries;
mod together;

use crate::builtins;
use crate::payloads::{Edit, Payload};
use crate::program::{Arg, Callback, Legacy, Meta, Program, Reg, Step, Value};
use crate::shared_object::{Damage, Part, SharedObject};
use crate::texts::Text;

/// Returns all seeds with their names.
pub fn all() -> Vec<(String, Program)> {
    let named = [
        ("values", values()),
        ("functions", functions()),
        ("errors", errors()),
        ("containers", containers()),
        ("cycles", cycles()),
        ("classes", classes::classes()),
        ("hooks", classes::hooks()),
        ("tensors", tensors()),
        ("environment", environment()),
        ("modules", modules()),
        ("backend", backend()),
        ("nulls", nulls()),
        ("json", json()),
        ("structural", structural()),
        ("moves", moves()),
        ("together", together::together()),
        ("together-calls", together::together_calls()),
        ("together-ends", together::together_ends()),
        ("weak", together::weak()),
        ("libraries", libraries::libraries()),
        ("damaged-libraries", libraries::damaged_libraries()),
        ("devices", libraries::devices()),
        ("models", libraries::models()),
        ("legacy-calls", legacy::legacy_calls()),
        ("legacy-values", legacy::legacy_values()),
        ("legacy-nulls", legacy::legacy_nulls()),
        ("threads", containers()),
        ("threads-classes", classes::classes()),
    ];
    let mut seeds: Vec<_> =
        named.map(|(name, steps)| (name.to_string(), Program::from_iter(steps))).into();
    for (_, program) in seeds.iter_mut().filter(|(name, _)| name.starts_with("threads")) {
        for line in program.lines.iter_mut().step_by(2) {
            line.other_thread = true;
        }
    }
    seeds.extend(each_function());
    seeds
}

fn r(number: u8) -> Reg {
    Reg(number)
}

fn arg(number: u8) -> Arg {
    Arg::Reg { reg: r(number) }
}

fn set(to: u8, value: Value) -> Step {
    Step::Set { to: r(to), value }
}

fn text(to: u8, content: &str) -> Step {
    set(to, Value::Text { text: Text::new(content) })
}

fn int(to: u8, value: i64) -> Step {
    set(to, Value::Int { value })
}

/// A call of a function of the library.
fn call(to: u8, name: &str, args: &[Arg]) -> Step {
    let mut known = builtins::NAMES.iter().chain(builtins::OPTIONAL);
    let number = known.position(|known| *known == name).expect("seeds name functions of the table");
    Step::Builtin { to: r(to), name: number as u8, args: args.to_vec() }
}

fn function(to: u8, callback: Callback, own: u8) -> Step {
    Step::Function { to: r(to), callback, own: r(own) }
}

fn meta(shape: &[i8]) -> Meta {
    Meta {
        shape: shape.to_vec(),
        strides: Vec::new(),
        has_strides: false,
        code: 2,
        bits: 32,
        lanes: 1,
        byte_offset: 0,
        device_type: 1,
        device_id: 0,
        null_data: false,
        negative: false,
        scale: 0,
    }
}

fn values() -> Vec<Step> {
    let mut steps = vec![
        set(0, Value::None {}),
        set(1, Value::Bool { value: true }),
        int(2, i64::MIN),
        set(3, Value::Float { value: -0.0 }),
        text(4, "abcdefg"),
        text(5, "abcdefgh"),
        set(6, Value::Bytes { text: Text::new("abcdefgh") }),
        set(7, Value::BigInt { words: vec![-1, 0, 1] }),
        Step::BigIntContent { reg: r(7) },
        Step::BigIntContent { reg: r(2) },
        Step::Own { to: r(0), value: Arg::RawStr { text: Text::new("raw") } },
        Step::Own { to: r(0), value: Arg::ByteArray { text: Text::new("a longer byte array") } },
        Step::Copy { to: r(1), from: r(5) },
        Step::Drop { reg: r(5) },
        Step::Own { to: r(2), value: Arg::Movable { reg: r(1) } },
        Step::Version {},
        Step::ObjectAllocator {},
        Step::Opaque { to: r(3), odd_index: false },
        Step::Opaque { to: r(4), odd_index: true },
        set(5, Value::DataType { code: 2, bits: 16, lanes: 4 }),
        set(6, Value::Device { device_type: 2, device_id: 1 }),
    ];
    for known in ["float32x4", "bool", "float8_e4m3fn", "custom[fuzz]3", "int99999999999", ""] {
        steps.push(Step::DataTypeFromText { to: r(0), text: Text::new(known) });
    }
    for (code, bits, lanes) in
        [(0, 8, 1), (6, 8, 1), (3, 0, 0), (10, 8, 4), (2, 32, 0xfffc), (200, 7, 3)]
    {
        steps.push(Step::DataTypeToText { to: r(0), code, bits, lanes });
    }
    for (init_fails, deinit_fails, empty) in
        [(false, false, false), (true, false, false), (false, true, false), (false, false, true)]
    {
        steps.push(Step::InitOnce { init_fails, deinit_fails, empty });
    }
    steps
}

fn functions() -> Vec<Step> {
    vec![
        int(0, 7),
        function(1, Callback::Own {}, 0),
        function(2, Callback::Forward {}, 1),
        Step::Call {
            to: r(3),
            function: r(2),
            args: vec![arg(0), Arg::RawStr { text: Text::new("x") }],
        },
        Step::Call { to: r(3), function: r(1), args: vec![] },
        function(4, Callback::Fail {}, 0),
        Step::Call { to: r(5), function: r(4), args: vec![] },
        Step::SetGlobal { name: 0, function: r(1), allow_override: false },
        Step::SetGlobal { name: 0, function: r(2), allow_override: false },
        Step::SetGlobal { name: 0, function: r(2), allow_override: true },
        Step::SetGlobalInfo {
            name: 1,
            function: r(1),
            doc: Text::new("{}"),
            allow_override: false,
        },
        Step::GetGlobal { to: r(6), name: Text::new("fuzz.f0") },
        Step::Call { to: r(6), function: r(6), args: vec![arg(4)] },
        Step::GetGlobal { to: r(6), name: Text::new("fuzz.missing") },
        Step::GetGlobal { to: r(6), name: Text::new("ffi.ReprPrint") },
        Step::Call { to: r(6), function: r(6), args: vec![arg(5)] },
        Step::ExternC { to: r(7), callback: Callback::CallLast {}, own: r(0) },
        Step::Call { to: r(7), function: r(7), args: vec![arg(0), arg(1)] },
        call(0, "ffi.GetGlobalFuncMetadata", &[Arg::RawStr { text: Text::new("fuzz.f1") }]),
        call(0, "ffi.FunctionRemoveGlobal", &[Arg::RawStr { text: Text::new("fuzz.f1") }]),
    ]
}

fn errors() -> Vec<Step> {
    let kind = || Text::new("TypeError");
    vec![
        Step::Error {
            to: r(0),
            kind: kind(),
            message: Text::new("a message"),
            backtrace: Text::new(""),
        },
        Step::ErrorWith {
            to: r(1),
            kind: kind(),
            message: Text::new("b"),
            cause: r(0),
            context: r(0),
        },
        Step::Backtraced { reg: r(1), text: Text::new("one line\n"), mode: true },
        Step::Backtraced { reg: r(1), text: Text::new("one more\n"), mode: false },
        Step::Raise { to: r(2), error: r(1) },
        Step::RaiseText {
            to: r(3),
            kind: kind(),
            message: Text::new("abcdefghijklmnopqrstuvwxyz"),
        },
        Step::RaiseParts {
            to: r(4),
            kind: kind(),
            parts: vec![Text::new("a"), Text::new("x"), Text::new("b")],
        },
        Step::Backtrace { crossing: true },
        Step::Backtrace { crossing: false },
        call(5, "ffi.Array", &[arg(0), arg(1), arg(2)]),
        call(6, "ffi.DeepCopy", &[arg(5)]),
        call(
            7,
            "ffi.StructuralEqual",
            &[arg(5), arg(6), Arg::Bool { value: false }, Arg::Bool { value: false }],
        ),
    ]
}

fn containers() -> Vec<Step> {
    vec![
        text(0, "key"),
        text(1, "a longer value"),
        call(2, "ffi.List", &[arg(0), arg(1), Arg::Int { value: 3 }]),
        call(3, "ffi.Array", &[arg(2), arg(2)]),
        call(4, "ffi.Dict", &[arg(0), arg(3), arg(1), arg(0)]),
        call(5, "ffi.Map", &[arg(0), arg(4), arg(2), Arg::Int { value: 1 }]),
        call(6, "ffi.ListAppend", &[arg(2), arg(5)]),
        call(6, "ffi.ListInsert", &[arg(2), Arg::Int { value: 0 }, arg(1)]),
        call(
            6,
            "ffi.ListReplaceSlice",
            &[arg(2), Arg::Int { value: 0 }, Arg::Int { value: 2 }, arg(3)],
        ),
        call(6, "ffi.ListPop", &[arg(2), Arg::Int { value: 0 }]),
        call(6, "ffi.DictSetItem", &[arg(4), arg(6), arg(5)]),
        call(6, "ffi.DictErase", &[arg(4), arg(0)]),
        call(6, "ffi.DictForwardIterFunctor", &[arg(4)]),
        Step::Call { to: r(7), function: r(6), args: vec![Arg::Int { value: 0 }] },
        Step::Call { to: r(7), function: r(6), args: vec![Arg::Int { value: 2 }] },
        call(6, "ffi.MapGetItemOrMissing", &[arg(5), arg(1)]),
        call(7, "ffi.ReprPrint", &[arg(5)]),
        call(7, "ffi.ToJSONGraphString", &[arg(3), Arg::Int { value: 1 }]),
        call(7, "ffi.FromJSONGraphString", &[arg(7)]),
        call(6, "ffi.RecursiveEq", &[arg(7), arg(3)]),
        call(6, "ffi.RecursiveHash", &[arg(7)]),
        call(6, "ffi.DeepCopy", &[arg(5)]),
        call(0, "ffi.ListReverse", &[arg(2)]),
        call(0, "ffi.ContainerFindFirstNonCPUDevice", &[arg(5)]),
    ]
}

fn cycles() -> Vec<Step> {
    vec![
        call(0, "ffi.List", &[]),
        call(1, "ffi.Dict", &[Arg::Int { value: 1 }, arg(0)]),
        call(2, "ffi.ListAppend", &[arg(0), arg(1)]),
        function(3, Callback::Append {}, 0),
        Step::Call { to: r(4), function: r(3), args: vec![arg(3)] },
        call(5, "ffi.ReprPrint", &[arg(0)]),
        call(5, "ffi.ToJSONGraph", &[arg(0), arg(7)]),
        call(5, "ffi.RecursiveEq", &[arg(0), arg(0)]),
        call(5, "ffi.DeepCopy", &[arg(1)]),
        function(6, Callback::Clear {}, 0),
        call(5, "ffi.Array", &[Arg::Int { value: -1 }, arg(6)]),
        call(5, "ffi.Array", &[arg(5)]),
        call(6, "ffi.StructuralVisit", &[arg(0), arg(5)]),
    ]
}

fn tensors() -> Vec<Step> {
    let import = |to, meta, versioned| Step::Import {
        to: r(to),
        meta,
        versioned,
        major: 1,
        flags: 1,
        alignment: 3,
        contiguous: true,
    };
    let strided = Meta { has_strides: true, strides: vec![1, 2], ..meta(&[2, 3]) };
    let huge = Meta { scale: 59, ..meta(&[3, 3]) };
    vec![
        import(0, meta(&[2, 3]), true),
        import(1, meta(&[]), false),
        import(2, strided.clone(), true),
        import(2, huge, false),
        import(2, Meta { null_data: true, ..meta(&[0, 4]) }, true),
        import(3, Meta { device_type: 2, ..meta(&[4]) }, true),
        Step::Export { to: r(4), tensor: r(0), versioned: true, back: true },
        Step::Export { to: r(4), tensor: r(4), versioned: false, back: false },
        Step::View { to: r(5), source: r(0), meta: meta(&[3]) },
        Step::View { to: r(5), source: r(0), meta: strided },
        call(6, "ffi.Array", &[arg(0), arg(1), Arg::TensorPtr { reg: r(0) }]),
        call(6, "ffi.Array", &[arg(1), arg(3)]),
        call(6, "ffi.ContainerFindFirstNonCPUDevice", &[arg(6)]),
        call(
            7,
            "ffi.StructuralHash",
            &[arg(0), Arg::Bool { value: false }, Arg::Bool { value: false }],
        ),
        call(
            7,
            "ffi.StructuralEqual",
            &[arg(0), arg(4), Arg::Bool { value: false }, Arg::Bool { value: true }],
        ),
        call(7, "ffi.Shape", &[Arg::Int { value: 3 }, Arg::Int { value: -4 }]),
    ]
}

fn environment() -> Vec<Step> {
    vec![
        Step::Stream { device_type: 2, device_id: 1, stream: 9 },
        Step::Stream { device_type: 2, device_id: 1, stream: 0 },
        Step::TensorAlloc { to: r(0), meta: meta(&[2, 2]) },
        Step::Allocator { mode: 1, global: true },
        Step::TensorAlloc { to: r(0), meta: meta(&[2, 2]) },
        Step::Export { to: r(1), tensor: r(0), versioned: true, back: true },
        Step::Allocator { mode: 2, global: false },
        Step::TensorAlloc { to: r(0), meta: meta(&[2, 2]) },
        Step::Allocator { mode: 0, global: false },
        Step::Signals { fails: false },
        Step::Signals { fails: true },
        Step::CApi { name: Text::new("PyErr_CheckSignals") },
        Step::CApi { name: Text::new("unknown") },
        Step::ContextSymbol { name: Text::new("key") },
    ]
}

fn modules() -> Vec<Step> {
    let name = |text| Arg::RawStr { text: Text::new(text) };
    vec![
        Step::SystemSymbol { name: 0 },
        Step::SystemSymbol { name: 1 },
        Step::SystemSymbol { name: 2 },
        call(0, "ffi.SystemLib", &[]),
        call(1, "ffi.SystemLib", &[name("fuzz_prefix_")]),
        call(2, "ffi.ModuleGetFunction", &[arg(0), name("fuzz_a"), Arg::Bool { value: true }]),
        Step::Call { to: r(3), function: r(2), args: vec![Arg::Int { value: 4 }] },
        call(3, "ffi.ModuleImportModule", &[arg(0), arg(1)]),
        call(3, "ffi.ModuleImportModule", &[arg(1), arg(0)]),
        call(
            3,
            "ffi.ModuleImplementsFunction",
            &[arg(0), name("fuzz_b"), Arg::Bool { value: false }],
        ),
        Step::Imports { module: r(0), name: Text::new("fuzz_a") },
        Step::Imports { module: r(0), name: Text::new("ffi.ReprPrint") },
        call(3, "ffi.ModuleClearImports", &[arg(0)]),
        call(3, "ffi.ModuleGetKind", &[arg(0)]),
        call(3, "ffi.ModuleGetPropertyMask", &[arg(0)]),
        call(3, "ffi.ModuleLoadFromFile", &[name("missing.so")]),
        call(3, "ffi.ModuleLoadFromFile", &[name("missing.unknown")]),
        call(3, "ffi.ModuleLoadFromFile", &[name("no_dot")]),
        call(3, "ffi.ModuleInspectSource", &[arg(0), name("")]),
        call(3, "ffi.ReprPrint", &[arg(0)]),
    ]
}

fn backend() -> Vec<Step> {
    vec![
        Step::Workspace { device_type: 1, size: 100 },
        Step::Workspace { device_type: 1, size: 0 },
        Step::Workspace { device_type: 2, size: 8 },
        Step::Launch { tasks: 0, fails: false, barrier: false },
        Step::Launch { tasks: 2, fails: false, barrier: true },
        Step::Launch { tasks: 2, fails: true, barrier: true },
        Step::Launch { tasks: -1, fails: false, barrier: false },
        Step::RunOnce { fails: false },
        Step::RunOnce { fails: true },
    ]
}

fn nulls() -> Vec<Step> {
    (0..crate::machine::NULLS.len() as u8).map(|call| Step::Null { call }).collect()
}

fn json() -> Vec<Step> {
    let mut steps = Vec::new();
    for known in [
        "{}",
        "[1,2.5,null,true,\"x\"]",
        "{\"a\":[1,{\"b\":-0.0}],\"c\":\"\\u00e9\"}",
        "[1,",
        "NaN",
        "1e400",
    ] {
        steps.push(call(0, "ffi.json.Parse", &[Arg::RawStr { text: Text::new(known) }]));
        steps.push(call(1, "ffi.json.Stringify", &[arg(0), Arg::Int { value: 2 }]));
    }
    for known in [28, 29, 30, 31] {
        let graph = Text(crate::texts::KNOWN[known].to_vec());
        steps.push(call(2, "ffi.FromJSONGraphString", &[Arg::ByteArray { text: graph.clone() }]));
        steps.push(call(2, "ffi.FromJSONGraphString", &[Arg::RawStr { text: graph }]));
    }
    steps
}

fn structural() -> Vec<Step> {
    let no = || Arg::Bool { value: false };
    vec![
        text(0, "x"),
        call(1, "ffi.List", &[arg(0), Arg::Int { value: 1 }]),
        call(2, "ffi.Array", &[arg(1), arg(0)]),
        call(3, "ffi.Dict", &[arg(0), arg(2)]),
        function(4, Callback::First {}, 0),
        call(4, "ffi.Array", &[Arg::Int { value: 75 }, arg(4), no()]),
        call(4, "ffi.Array", &[arg(4)]),
        call(5, "ffi.StructuralMutate", &[arg(2), arg(4)]),
        function(6, Callback::Last {}, 0),
        call(6, "ffi.Array", &[Arg::Int { value: 1 }, arg(6)]),
        call(6, "ffi.Array", &[arg(6)]),
        call(7, "ffi.Array", &[]),
        call(5, "ffi.StructuralMap", &[arg(2), arg(6), arg(7), Arg::Int { value: 0 }]),
        call(5, "ffi.StructuralWalk", &[arg(3), arg(6), arg(7), Arg::Int { value: 1 }]),
        call(5, "ffi.StructuralVisit", &[arg(3), arg(6)]),
        call(5, "ffi.GetFirstStructuralMismatch", &[arg(1), arg(2), no(), no()]),
        call(5, "ffi.StructuralKey", &[arg(0)]),
        call(5, "ffi.StructuralKeyEqual", &[arg(5), arg(5)]),
        call(5, "ffi.VisitInterrupt", &[arg(1)]),
        Step::GetField { to: r(6), object: r(5), field: 0 },
    ]
}

fn moves() -> Vec<Step> {
    let moved = |number| Arg::Movable { reg: r(number) };
    vec![
        text(0, "abcdefghijklmnopqrstuvwxyz"),
        call(1, "ffi.Array", &[moved(0)]),
        call(2, "ffi.List", &[moved(1), Arg::Int { value: 2 }]),
        call(3, "ffi.ListAppend", &[moved(2), arg(2)]),
        call(3, "ffi.Map", &[Arg::Int { value: 1 }, moved(2)]),
        function(4, Callback::First {}, 0),
        Step::Call { to: r(5), function: r(4), args: vec![moved(3)] },
        call(6, "ffi.DeepCopy", &[moved(5)]),
        call(6, "ffi.StructuralMutate", &[moved(5), moved(6)]),
    ]
}

/// A program for each function of the library, which calls it with values of several kinds.
fn each_function() -> Vec<(String, Program)> {
    let one = |name: &&str| {
        let tuples: &[&[Arg]] = &[
            &[],
            &[arg(0)],
            &[arg(1)],
            &[arg(2)],
            &[arg(3), arg(1)],
            &[arg(4), arg(0)],
            &[arg(2), Arg::Int { value: 1 }],
            &[arg(2), arg(1), Arg::Bool { value: false }],
            &[arg(2), Arg::Int { value: 0 }, Arg::Int { value: 1 }, arg(2)],
            &[arg(5), arg(1), Arg::Bool { value: true }, Arg::Bool { value: true }],
        ];
        let mut steps = vec![
            int(0, 3),
            text(1, "fuzz_a"),
            call(2, "ffi.List", &[arg(0), arg(1)]),
            call(3, "ffi.Map", &[arg(1), arg(2)]),
            call(4, "ffi.Dict", &[arg(0), arg(3)]),
            call(5, "ffi.Array", &[arg(2), arg(4)]),
        ];
        steps.extend(tuples.iter().map(|args| call(6, name, args)));
        (format!("each-{}", name.trim_start_matches("ffi.")), Program::from_iter(steps))
    };
    builtins::NAMES.iter().chain(builtins::OPTIONAL).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_decodes_to_itself() {
        for (name, program) in all() {
            assert_eq!(Program::decode(&program.encode()), program, "{name}");
        }
    }

    #[test]
    fn the_seeds_have_every_kind_of_step() {
        let names: std::collections::BTreeSet<_> = all()
            .iter()
            .flat_map(|(_, program)| {
                program.lines.iter().map(|line| crate::machine::name_of(&line.step))
            })
            .collect();
        let missing: Vec<_> = Step::NAMES.iter().filter(|name| !names.contains(*name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

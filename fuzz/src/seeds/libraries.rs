//! Programs that load shared objects, whole models and modules for devices.

use super::*;

/// A module of a tree, by the number of its kind.
fn part(kind: u8) -> Part {
    Part { kind, payload: Payload::Text { text: Text::new("abcdefgh") } }
}

fn library(to: u8, kinds: &[u8], imports: &[u8], damage: &[(u8, i8)]) -> Step {
    let object = SharedObject {
        has_tree: true,
        parts: kinds.iter().map(|kind| part(*kind)).collect(),
        imports: imports.to_vec(),
        damage: damage.iter().map(|(word, value)| Damage { word: *word, value: *value }).collect(),
        cut: 0,
    };
    Step::Library { to: r(to), object }
}

/// Shared objects with and without modules in them.
pub(super) fn libraries() -> Vec<Step> {
    let name = |text| Arg::RawStr { text: Text::new(text) };
    let alone =
        SharedObject { has_tree: false, parts: vec![], imports: vec![], damage: vec![], cut: 0 };
    let mut steps = vec![
        Step::Library { to: r(0), object: alone },
        call(1, "ffi.ModuleGetFunction", &[arg(0), name("fuzz_a"), Arg::Bool { value: true }]),
        Step::Call { to: r(2), function: r(1), args: vec![Arg::Int { value: 4 }] },
        library(3, &[0], &[], &[]),
        library(3, &[2], &[], &[]),
        // The loader of the kind gives the first module.
        function(4, Callback::Own {}, 0),
        Step::SetGlobal { name: 6, function: r(4), allow_override: true },
        library(5, &[1, 0], &[0x01], &[]),
        library(6, &[0, 1, 1], &[0x01, 0x12], &[]),
        library(6, &[0, 1], &[0x01, 0x10], &[]),
        function(4, Callback::First {}, 0),
        Step::SetGlobal { name: 6, function: r(4), allow_override: true },
        library(7, &[0, 1], &[0x01], &[]),
    ];
    for module in [5, 6] {
        steps.extend([
            call(
                1,
                "ffi.ModuleGetFunction",
                &[arg(module), name("fuzz_a"), Arg::Bool { value: true }],
            ),
            Step::Imports { module: r(module), name: Text::new("fuzz_a") },
            call(
                1,
                "ffi.ModuleGetFunctionDoc",
                &[arg(module), name("fuzz_a"), Arg::Bool { value: true }],
            ),
            call(1, "ffi.ReprPrint", &[arg(module)]),
        ]);
    }
    steps
}

pub(super) fn damaged_libraries() -> Vec<Step> {
    let cut = |cut| match library(0, &[0, 2], &[0x01], &[]) {
        Step::Library { to, object } => {
            Step::Library { to, object: SharedObject { cut, ..object } }
        }
        other => other,
    };
    let mut steps: Vec<_> =
        (0..9).map(|word| library(0, &[0, 2], &[0x01], &[(word, -1)])).collect();
    steps.extend((0..9).map(|word| library(0, &[0, 2], &[0x01], &[(word, 7)])));
    steps.extend([1, 8, 9, 40, 255].map(cut));
    steps.push(library(0, &[], &[], &[]));
    steps
}

/// Executables of models, sound and damaged, and their machines.
pub(super) fn models() -> Vec<Step> {
    let name = |text| Arg::RawStr { text: Text::new(text) };
    let find = |to, module, text| {
        call(to, "ffi.ModuleGetFunction", &[arg(module), name(text), Arg::Bool { value: false }])
    };
    let mut steps = vec![function(0, Callback::First {}, 0)];
    steps.extend((7..12).map(|name| Step::SetGlobal {
        name,
        function: r(0),
        allow_override: true,
    }));
    steps.push(Step::Import {
        to: r(6),
        meta: meta(&[4]),
        versioned: true,
        major: 1,
        flags: 0,
        alignment: 0,
        contiguous: true,
    });
    steps.push(Step::Import {
        to: r(7),
        meta: Meta { code: 6, bits: 8, ..meta(&[]) },
        versioned: true,
        major: 1,
        flags: 0,
        alignment: 0,
        contiguous: true,
    });
    for (file, edits) in
        [(6, vec![]), (7, vec![]), (6, vec![Edit { at: 2000, operation: 2, byte: 1 }])]
    {
        steps.extend([
            Step::Payload { to: r(0), payload: Payload::File { file, edits } },
            call(1, "ffi.Module.load_from_bytes.relax.VMExecutable", &[arg(0)]),
            find(2, 1, "as_text"),
            Step::Call { to: r(2), function: r(2), args: vec![] },
            find(3, 1, "vm_load_executable"),
            Step::Call { to: r(4), function: r(3), args: vec![] },
            find(5, 4, "vm_initialization"),
            Step::Call {
                to: r(5),
                function: r(5),
                args: [1, 0, 2].map(|value| Arg::Int { value }).into(),
            },
            find(3, 4, "choose"),
            Step::Call { to: r(5), function: r(3), args: vec![arg(7), arg(6)] },
            Step::Call { to: r(5), function: r(3), args: vec![arg(6)] },
        ]);
    }
    steps
}

/// Modules for devices and models, sound and damaged; libraries without the features leave the
/// calls out.
pub(super) fn devices() -> Vec<Step> {
    let loaders = ["opencl", "cuda", "hip", "metal", "webgpu", "vulkan", "relax.VMExecutable"];
    let name = |text| Arg::RawStr { text: Text::new(text) };
    let mut steps = Vec::new();
    for (file, kind) in (0..).zip(loaders) {
        let edits =
            if file % 2 == 0 { vec![] } else { vec![Edit { at: 900, operation: 2, byte: 7 }] };
        steps.extend([
            Step::Payload { to: r(0), payload: Payload::File { file, edits } },
            call(1, &format!("ffi.Module.load_from_bytes.{kind}"), &[arg(0)]),
            call(
                2,
                "ffi.ModuleGetFunction",
                &[arg(1), name("vm_load_executable"), Arg::Bool { value: false }],
            ),
            Step::Call { to: r(3), function: r(2), args: vec![] },
        ]);
    }
    let object = SharedObject {
        has_tree: true,
        parts: vec![part(0), Part { kind: 11, payload: Payload::File { file: 6, edits: vec![] } }],
        imports: vec![0x01],
        damage: vec![],
        cut: 0,
    };
    steps.push(Step::Library { to: r(4), object });
    steps.push(call(5, "ffi.ReprPrint", &[arg(4)]));
    steps
}

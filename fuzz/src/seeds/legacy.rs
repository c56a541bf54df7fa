//! Programs of calls of the API of TVM 0.5 to 0.20.

use super::*;

fn legacy(to: u8, call: Legacy) -> Step {
    Step::Legacy { to: r(to), call }
}

/// Calls of functions by the API of TVM 0.5 to 0.20.
pub(super) fn legacy_calls() -> Vec<Step> {
    let call = |to, function, args: &[Arg]| {
        legacy(to, Legacy::Call { function: r(function), args: args.to_vec() })
    };
    let name = |name| Text::new(name);
    let object =
        SharedObject { has_tree: false, parts: vec![], imports: vec![], damage: vec![], cut: 0 };
    let mut steps = vec![
        legacy(0, Legacy::Function { fails: false }),
        legacy(1, Legacy::Function { fails: true }),
        text(2, "abcdefghijklmnopqrstuvwxyz"),
        call(3, 0, &[arg(2)]),
        call(3, 0, &[Arg::Int { value: 4 }]),
        call(3, 0, &[Arg::Bool { value: true }]),
        call(3, 0, &[arg(0)]),
        call(3, 0, &[Arg::ByteArray { text: name("bytes") }]),
        call(3, 1, &[]),
        legacy(3, Legacy::SetGlobal { name: 0, function: r(0), allow_override: true }),
        legacy(3, Legacy::GetGlobal { name: name("fuzz.f0") }),
        call(4, 3, &[arg(2), arg(3)]),
        legacy(4, Legacy::RemoveGlobal { name: 0 }),
        legacy(4, Legacy::GetGlobal { name: name("fuzz.missing") }),
        legacy(4, Legacy::GetGlobal { name: name("ffi.ReprPrint") }),
        call(5, 4, &[arg(2)]),
        call(5, 4, &[arg(0), arg(0), arg(0)]),
        legacy(5, Legacy::ListGlobals {}),
        function(5, Callback::First {}, 0),
        call(6, 5, &[Arg::Movable { reg: r(2) }]),
        Step::Call { to: r(7), function: r(0), args: vec![arg(6)] },
        Step::Call { to: r(7), function: r(1), args: vec![arg(6)] },
    ];
    steps.extend([
        legacy(0, Legacy::LoadModule { object }),
        legacy(1, Legacy::Module { module: r(0), name: name("fuzz_a"), imports: true }),
        call(2, 1, &[]),
        legacy(2, Legacy::Import { module: r(0), imported: r(0) }),
        legacy(2, Legacy::FuncFromEnv { module: r(0), name: name("ffi.ReprPrint") }),
        legacy(2, Legacy::FuncFromEnv { module: r(0), name: name("fuzz.missing") }),
        legacy(2, Legacy::Error { text: name("ValueError"), python: false }),
        legacy(2, Legacy::Error { text: name(""), python: true }),
    ]);
    steps
}

pub(super) fn legacy_values() -> Vec<Step> {
    let array = |to, meta, bytes, exact| legacy(to, Legacy::Array { meta, bytes, exact });
    let device = |device_type, stream| {
        legacy(7, Legacy::Device { device_type, device_id: 0, size: 100, alignment: 64, stream })
    };
    let key = |key, parent| legacy(7, Legacy::Key { key: Text::new(key), parent });
    let mut steps = classes::classes();
    steps.extend([
        legacy(3, Legacy::Object { object: r(0), attribute: Text::new("n") }),
        legacy(3, Legacy::Object { object: r(0), attribute: Text::new("fuzz.missing") }),
        key("fuzz.B", 0),
        key("fuzz.A", 1),
        key("fuzz.missing", 0),
        array(0, meta(&[2, 3]), 0, true),
        array(1, meta(&[2, 3]), 3, false),
        array(1, meta(&[3, 2]), 24, false),
        array(2, Meta { negative: true, ..meta(&[2]) }, 0, true),
        array(2, Meta { scale: 59, ..meta(&[3, 3]) }, 0, true),
        array(2, Meta { device_type: 2, ..meta(&[3]) }, 0, true),
        legacy(3, Legacy::CopyArray { from: r(0), to: r(1) }),
        legacy(3, Legacy::CopyArray { from: r(1), to: r(0) }),
        legacy(3, Legacy::DlPack { tensor: r(0), back: true }),
        legacy(4, Legacy::DlPack { tensor: r(3), back: false }),
        device(1, false),
        device(1, true),
        device(2, false),
        device(-1, true),
    ]);
    steps
}

pub(super) fn legacy_nulls() -> Vec<Step> {
    (0..27).map(|call| legacy(0, Legacy::Null { call })).collect()
}

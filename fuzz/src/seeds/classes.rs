//! Programs that register classes, and hooks of them.

use super::*;

pub(super) fn classes() -> Vec<Step> {
    let mut steps = vec![
        Step::Class { class: 0, parent: 0, slots: 2, overflow: true },
        Step::Class { class: 1, parent: 1, slots: 0, overflow: false },
        Step::Class { class: 0, parent: 0, slots: 2, overflow: true },
        int(6, 5),
    ];
    for class in 0..2 {
        for field in 0..6 {
            let flags = [0, 2, 0x100, 0x80, 1, 0x402][field];
            steps.push(Step::Field { class, field: field as u8, flags, default: r(6) });
        }
        steps.push(Step::Metadata { class, kind: 1, doc: Text::new("") });
        steps.push(Step::PyClass { class, init_only: class == 0 });
    }
    steps.extend([
        Step::New { to: r(0), class: 0 },
        Step::New { to: r(1), class: 1 },
        Step::SetField { object: r(0), field: 0, value: arg(1) },
        Step::SetField { object: r(1), field: 4, value: Arg::Int { value: 3 } },
        Step::SetField { object: r(1), field: 0, value: Arg::RawStr { text: Text::new("text") } },
        Step::GetField { to: r(2), object: r(0), field: 0 },
        call(3, "ffi.ReprPrint", &[arg(0)]),
        call(4, "ffi.DeepCopy", &[arg(0)]),
        call(
            5,
            "ffi.StructuralEqual",
            &[arg(0), arg(4), Arg::Bool { value: false }, Arg::Bool { value: false }],
        ),
        call(5, "ffi.RecursiveEq", &[arg(0), arg(4)]),
        call(5, "ffi.ToJSONGraphString", &[arg(0), arg(7)]),
        call(5, "ffi.FromJSONGraphString", &[arg(5)]),
        call(
            5,
            "ffi.MakeObjectFromPackedArgs",
            &[
                Arg::RawStr { text: Text::new("fuzz.A") },
                Arg::RawStr { text: Text::new("a") },
                arg(0),
            ],
        ),
        Step::TypeInfo { index: 10, dynamic: true },
        Step::TypeInfo { index: 73, dynamic: false },
        Step::KeyToIndex { key: Text::new("fuzz.A") },
        call(5, "ffi.GetRegisteredTypeKeys", &[]),
        function(5, Callback::First {}, 0),
        Step::Method { class: 0, name: Text::new("key"), function: r(5), is_static: false },
    ]);
    steps
}

pub(super) fn hooks() -> Vec<Step> {
    let mut steps = vec![
        Step::Class { class: 2, parent: 0, slots: 0, overflow: true },
        Step::Field { class: 2, field: 0, flags: 1, default: r(7) },
        Step::Metadata { class: 2, kind: 3, doc: Text::new("") },
        text(6, "a text of a hook"),
        int(5, 3),
        function(0, Callback::Own {}, 6),
        function(1, Callback::Own {}, 5),
        function(2, Callback::True {}, 5),
        function(3, Callback::CallLast {}, 5),
    ];
    for (name, value) in
        [(0, 5), (1, 0), (2, 1), (3, 2), (4, 1), (5, 1), (6, 2), (7, 2), (8, 1), (9, 3), (11, 1)]
    {
        steps.push(Step::Attr { class: 2, name, value: r(value) });
    }
    steps.extend([
        Step::Column { name: Text::new("__ffi_repr__") },
        Step::New { to: r(0), class: 2 },
        Step::New { to: r(1), class: 2 },
        call(2, "ffi.ReprPrint", &[arg(0)]),
        call(2, "ffi.RecursiveEq", &[arg(0), arg(1)]),
        call(2, "ffi.RecursiveLt", &[arg(0), arg(1)]),
        call(2, "ffi.RecursiveHash", &[arg(0)]),
        call(2, "ffi.Dict", &[arg(0), Arg::Int { value: 1 }, arg(1), Arg::Int { value: 2 }]),
        call(
            2,
            "ffi.StructuralEqual",
            &[arg(0), arg(1), Arg::Bool { value: false }, Arg::Bool { value: false }],
        ),
        call(
            2,
            "ffi.StructuralHash",
            &[arg(0), Arg::Bool { value: false }, Arg::Bool { value: false }],
        ),
        call(2, "ffi.ToJSONGraphString", &[arg(0), arg(7)]),
    ]);
    steps
}

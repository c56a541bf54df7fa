//! Programs whose threads run at the same time.

use super::*;

/// Starts threads that run the next steps beside those behind them.
fn fork(steps: u8, threads: u8) -> Step {
    Step::Fork { steps: steps - 1, threads: threads - 1, rounds: 7 }
}

/// Threads that count, read and copy what they share.
pub(super) fn together() -> Vec<Step> {
    let shared = || {
        vec![
            call(6, "ffi.ListGetItem", &[arg(1), Arg::Int { value: 0 }]),
            call(6, "ffi.DeepCopy", &[arg(2)]),
            call(7, "ffi.RecursiveEq", &[arg(2), arg(6)]),
            call(6, "ffi.ToJSONGraphString", &[arg(2), arg(5)]),
            Step::Weak { reg: r(2), released: false },
            Step::Drop { reg: r(2) },
        ]
    };
    let mut steps = vec![
        text(0, "abcdefghijklmnopqrstuvwxyz"),
        call(1, "ffi.List", &[arg(0), Arg::Int { value: 1 }]),
        call(2, "ffi.Map", &[arg(0), arg(1), Arg::Int { value: 2 }, arg(0)]),
        fork(6, 3),
    ];
    steps.extend(shared());
    steps.extend(shared());
    steps.extend([
        Step::Join {},
        call(3, "ffi.ListAppend", &[arg(1), Arg::Int { value: 5 }]),
        fork(4, 2),
    ]);
    steps.extend([
        Step::Copy { to: r(3), from: r(1) },
        call(4, "ffi.ReprPrint", &[arg(3)]),
        call(4, "ffi.RecursiveHash", &[arg(1)]),
        call(4, "ffi.Array", &[arg(1), Arg::Movable { reg: r(0) }]),
    ]);
    // Waits for the threads.
    steps.push(call(3, "ffi.ListClear", &[arg(1)]));
    steps
}

/// Threads that look up and call functions, raise errors, and use what each thread has for itself.
pub(super) fn together_calls() -> Vec<Step> {
    let kind = || Text::new("ValueError");
    let mut steps = vec![
        text(0, "abcdefghijklmnopqrstuvwxyz"),
        function(1, Callback::Own {}, 0),
        function(2, Callback::Fail {}, 0),
        function(3, Callback::Forward {}, 1),
        fork(6, 3),
    ];
    for _ in 0..2 {
        steps.extend([
            Step::GetGlobal { to: r(4), name: Text::new("ffi.ReprPrint") },
            Step::Call { to: r(5), function: r(1), args: vec![arg(0)] },
            Step::Call { to: r(5), function: r(2), args: vec![arg(0)] },
            Step::Call { to: r(5), function: r(3), args: vec![arg(0)] },
            Step::RaiseText { to: r(6), kind: kind(), message: Text::new("of a thread") },
            Step::Raise { to: r(6), error: r(5) },
        ]);
    }
    steps.push(Step::Stream { device_type: 2, device_id: 1, stream: 9 });
    steps.push(fork(6, 3));
    for _ in 0..2 {
        steps.extend([
            Step::Launch { tasks: 2, fails: false, barrier: true },
            Step::Launch { tasks: 2, fails: true, barrier: false },
            Step::Workspace { device_type: 1, size: 100 },
            Step::InitOnce { init_fails: false, deinit_fails: false, empty: false },
            call(
                4,
                "ffi.json.Parse",
                &[Arg::RawStr { text: Text::new("[1,2.5,null,true,\"x\"]") }],
            ),
            Step::SetGlobal { name: 0, function: r(1), allow_override: true },
        ]);
    }
    steps
}

/// Threads that hold the last references when the program ends.
pub(super) fn together_ends() -> Vec<Step> {
    let mut steps = classes::classes();
    steps.extend([fork(4, 3), call(2, "ffi.ReprPrint", &[arg(0)])]);
    steps.extend([
        Step::GetField { to: r(3), object: r(0), field: 0 },
        Step::New { to: r(4), class: 1 },
        Step::Opaque { to: r(5), odd_index: false },
        Step::Drop { reg: r(0) },
        Step::Drop { reg: r(1) },
    ]);
    steps
}

pub(super) fn weak() -> Vec<Step> {
    let weak = |number, released| Step::Weak { reg: r(number), released };
    vec![
        text(0, "abcdefghijklmnopqrstuvwxyz"),
        weak(0, false),
        Step::Copy { to: r(1), from: r(0) },
        weak(0, true),
        weak(1, true),
        weak(1, true),
        function(2, Callback::Own {}, 2),
        weak(2, true),
        Step::Opaque { to: r(3), odd_index: false },
        weak(3, true),
    ]
}

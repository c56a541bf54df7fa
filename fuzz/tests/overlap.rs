//! Steps on several threads at the same time, on the library in `FERRITE_LIBRARY`.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrite_fuzz::builtins;
use ferrite_fuzz::program::{Arg, Callback, Program, Reg, Step, Value};
use ferrite_fuzz::texts::Text;

/// Returns the notes of a program.
fn notes(name: &str, program: &Program) -> Vec<String> {
    let library: PathBuf =
        std::env::var_os("FERRITE_LIBRARY").expect("FERRITE_LIBRARY names a library").into();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, program.encode()).expect("the folder is writable");
    let command = &mut Command::new(env!("CARGO_BIN_EXE_differential"));
    let output =
        command.arg("--notes").arg(library).arg(file).output().expect("the program starts");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

fn call(to: u8, name: &str, args: &[u8]) -> Step {
    let number =
        builtins::NAMES.iter().position(|known| *known == name).expect("a function of the table");
    let args = args.iter().map(|number| Arg::Reg { reg: Reg(*number) }).collect();
    Step::Builtin { to: Reg(to), name: number as u8, args }
}

/// A List in register 1 and a fork of the steps.
fn forked(steps: Vec<Step>) -> Vec<Step> {
    let value = Value::Text { text: Text::new("a text of an object") };
    let first = [
        Step::Set { to: Reg(0), value },
        call(1, "ffi.List", &[0]),
        Step::Fork { steps: steps.len() as u8 - 1, threads: 2, rounds: 7 },
    ];
    first.into_iter().chain(steps).collect()
}

fn position(notes: &[String], start: &str) -> usize {
    notes
        .iter()
        .position(|note| note.starts_with(start))
        .unwrap_or_else(|| panic!("no {start}: {notes:#?}"))
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn a_step_that_changes_a_value_waits_for_the_threads() {
    let mut steps = forked(vec![call(2, "ffi.ReprPrint", &[1])]);
    steps.extend([call(3, "ffi.ListSize", &[1]), call(3, "ffi.ListAppend", &[1, 0])]);
    let notes = notes("waits", &steps.into_iter().collect());
    let [read, joined, changed] =
        ["4 ", "threads joined", "5 "].map(|start| position(&notes, start));
    assert!(read < joined && joined < changed, "{notes:#?}");
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn threads_change_no_value() {
    let notes =
        notes("change", &forked(vec![call(2, "ffi.ListAppend", &[1, 0])]).into_iter().collect());
    assert_eq!(notes[position(&notes, "3 ")], "3 Builtin: skipped");
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn functions_change_no_value_while_threads_run() {
    let mut steps = vec![
        call(1, "ffi.List", &[]),
        Step::Function { to: Reg(2), callback: Callback::Append {}, own: Reg(1) },
        Step::Fork { steps: 0, threads: 2, rounds: 7 },
        Step::Call { to: Reg(3), function: Reg(2), args: vec![Arg::Int { value: 1 }] },
    ];
    steps.push(call(4, "ffi.ListSize", &[1]));
    let notes = notes("functions", &steps.into_iter().collect());
    assert_eq!(notes[position(&notes, "4 ")], "4 Builtin: ok int 0");
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn registers_of_threads_are_copies() {
    let steps = vec![Step::Copy { to: Reg(2), from: Reg(0) }, Step::Drop { reg: Reg(0) }];
    let notes = notes("copies", &forked(steps).into_iter().collect());
    assert_eq!(notes[position(&notes, "3 ")], "3 Copy: ok str \"a text of an object\"");
    assert_eq!(
        notes[position(&notes, "0 register")],
        "0 register: ok str \"\\\"a text of an object\\\"\""
    );
    assert_eq!(notes[position(&notes, "2 register")], "2 register: ok str \"None\"");
}

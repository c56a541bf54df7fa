//! Programs in C take the same notes as the interpreter, on the library in `FERRITE_LIBRARY`, which
//! has the feature `legacy`.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrite_fuzz::program::Reg;
use ferrite_fuzz::texts::Text;
use ferrite_fuzz::worker::Run;
use ferrite_fuzz::{Library, Program, Step, c_code, seeds};

/// Runs a command and returns its output.
fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} fails: {}\n{errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn interpreted(library: &Path, bytes: &Path) -> Vec<String> {
    let notes = output_of(
        Command::new(env!("CARGO_BIN_EXE_differential")).arg("--notes").arg(library).arg(bytes),
    );
    notes.lines().filter(|note| !note.ends_with(": skipped")).map(str::to_string).collect()
}

fn compiled(library: &Path, bytes: &Path) -> Vec<String> {
    let (source, program) = (bytes.with_extension("c"), bytes.with_extension("out"));
    let code = output_of(
        Command::new(env!("CARGO_BIN_EXE_differential")).arg("--c").arg(library).arg(bytes),
    );
    std::fs::write(&source, code).expect("the folder is writable");
    let folder = library.parent().expect("a library is in a folder").display();
    output_of(
        Command::new("cc")
            .args(["-std=gnu11", "-Wall", "-Werror", "-pthread", "-I"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../include"))
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .arg(library)
            .arg(format!("-Wl,-rpath,{folder}")),
    );
    output_of(&mut Command::new(&program)).lines().map(str::to_string).collect()
}

fn library() -> PathBuf {
    let path: PathBuf =
        std::env::var_os("FERRITE_LIBRARY").expect("FERRITE_LIBRARY names a library").into();
    let library = Library::open(&path).expect("the library opens");
    assert!(library.legacy.is_some(), "the library in FERRITE_LIBRARY needs the feature legacy");
    path
}

fn has_legacy_steps(program: &Program) -> bool {
    program.lines.iter().any(|line| matches!(line.step, Step::Legacy { .. }))
}

fn takes_the_same_notes(library: &Path, name: &str, program: &Program) {
    let bytes = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&bytes, program.encode()).expect("the folder is writable");
    let (in_c, notes) = (compiled(library, &bytes), interpreted(library, &bytes));
    let differ = in_c.iter().zip(&notes).find(|(one, other)| one != other);
    assert!(in_c == notes, "{name}: {} lines in C, {} notes; {differ:?}", in_c.len(), notes.len());
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn a_seed_in_c_takes_the_notes_of_the_interpreter() {
    let library = library();
    for (name, program) in seeds::all().iter().filter(|(name, _)| !name.starts_with("each-")) {
        takes_the_same_notes(&library, name, program);
    }
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn a_kept_input_in_c_takes_the_notes_of_the_interpreter() {
    let library = library();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus/c_symbols");
    let mut legacy = 0;
    for entry in std::fs::read_dir(corpus).expect("`fuzz/corpus.py unpack` has written the inputs")
    {
        let path = entry.expect("the folder is readable").path();
        let name = path.file_name().expect("a file has a name").to_string_lossy();
        let program = Program::decode(&std::fs::read(&path).expect("the file is readable"));
        takes_the_same_notes(&library, &name, &program);
        legacy += usize::from(has_legacy_steps(&program));
    }
    assert!(legacy > 0, "no kept input has a step with the API of TVM 0.5 to 0.20");
}

/// Returns the C code of a program of which the steps of these numbers are left out.
fn without(program: &Program, left_out: impl Fn(usize) -> bool) -> String {
    let notes = |number| {
        if left_out(number) { vec![format!("{number} Step: skipped")] } else { Vec::new() }
    };
    c_code::program(
        program,
        &Run { steps: (0..=program.lines.len()).map(notes).collect(), crash: None },
    )
}

#[test]
fn a_step_that_did_not_run_is_not_in_the_program() {
    let (_, program) = seeds::all().swap_remove(0);
    let code = without(&program, |number| number != 1);
    let (_, main) = code.split_once("int main").expect("the program has a main");
    assert_eq!(main.matches("STEP(").count(), 1);
}

#[test]
fn threads_end_before_a_step_that_did_not_run() {
    let steps = [
        Step::Fork { steps: 0, threads: 0, rounds: 0 },
        Step::Version {},
        Step::Imports { module: Reg(0), name: Text::new("") },
    ];
    let program = Program::from_iter(steps);
    let notes = vec![
        Vec::new(),
        Vec::new(),
        vec!["threads joined".into(), "2 Imports: skipped".into()],
        Vec::new(),
    ];
    let code = c_code::program(&program, &Run { steps: notes, crash: None });
    let (_, main) = code.split_once("int main").expect("the program has a main");
    assert!(main.contains("join_threads();"));
}

#[test]
fn a_program_needs_the_legacy_header_only_if_a_legacy_step_ran() {
    let all = seeds::all();
    let (_, program) =
        all.iter().find(|(_, program)| has_legacy_steps(program)).expect("a seed has such a step");
    let is_legacy = |number: usize| {
        program.lines.get(number).is_some_and(|line| matches!(line.step, Step::Legacy { .. }))
    };
    assert!(without(program, |_| false).contains("#include <tvm/runtime/c_runtime_api.h>"));
    assert!(!without(program, is_legacy).contains("c_runtime_api.h"));
}

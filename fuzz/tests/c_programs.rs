//! Programs in C take the same notes as the interpreter, on the library in `FERRITE_LIBRARY`.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrite_fuzz::worker::Run;
use ferrite_fuzz::{c_code, seeds};

/// Runs a command and returns its output.
fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} fails: {}\n{errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn interpreted(library: &Path, bytes: &Path) -> Vec<String> {
    let notes =
        output_of(Command::new(env!("CARGO_BIN_EXE_differential")).arg("--notes").arg(library).arg(bytes));
    notes.lines().filter(|note| !note.ends_with(": skipped")).map(str::to_string).collect()
}

fn compiled(library: &Path, bytes: &Path) -> Vec<String> {
    let (source, program) = (bytes.with_extension("c"), bytes.with_extension("out"));
    let code = output_of(Command::new(env!("CARGO_BIN_EXE_differential")).arg("--c").arg(library).arg(bytes));
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

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn a_seed_in_c_takes_the_notes_of_the_interpreter() {
    let library: PathBuf =
        std::env::var_os("FERRITE_LIBRARY").expect("FERRITE_LIBRARY names a library").into();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, program) in seeds::all().iter().filter(|(name, _)| !name.starts_with("each-")) {
        let bytes = folder.join(name);
        std::fs::write(&bytes, program.encode()).expect("the folder is writable");
        assert_eq!(compiled(&library, &bytes), interpreted(&library, &bytes), "{name}");
    }
}

#[test]
fn a_step_that_did_not_run_is_not_in_the_program() {
    let (_, program) = seeds::all().swap_remove(0);
    let skipped = |number| if number == 1 { Vec::new() } else { vec![format!("{number} Step: skipped")] };
    let run = Run { steps: (0..=program.lines.len()).map(skipped).collect(), crash: None };
    let code = c_code::program(&program, &run);
    let (_, main) = code.split_once("int main").expect("the program has a main");
    assert_eq!(main.matches("STEP(").count(), 1);
}

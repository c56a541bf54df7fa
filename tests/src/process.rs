//! Running programs. Every failure becomes a message with the program's output.

use crate::Outcome;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a command to completion. Returns its standard output.
///
/// # Errors
/// If the command cannot start or exits with a status other than 0. The message contains the
/// command and its output.
pub fn output_of(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?} ended with {}\n{}", output.status, everything(&output)).into())
}

/// Returns the command that runs a program built for the machine under test. If that is not this
/// machine, `FERRITE_RUNNER` names the emulator.
pub fn program(executable: &Path) -> Command {
    let runner = std::env::var("FERRITE_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(first) = words.next() else { return Command::new(executable) };
    let mut command = Command::new(first);
    command.args(words).arg(executable);
    command
}

fn everything(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    format!("--- stdout\n{stdout}\n--- stderr\n{stderr}")
}

/// Checks that a tool is installed.
///
/// # Errors
/// If it is missing. The message names the packages of Debian and derivatives that contain it.
pub fn require(tool: &str, packages: &str) -> Outcome<()> {
    match Command::new(tool).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(format!("{tool} is missing: apt-get install {packages}").into()),
    }
}

/// Checks that the Arm compiler, which tests of size and of generated code use, is installed.
///
/// # Errors
/// If it is missing.
pub fn require_arm_gcc() -> Outcome<()> {
    require("arm-none-eabi-gcc", "gcc-arm-none-eabi")
}

/// Returns a valgrind command, to which the program is added. Errors and leaks of these kinds (such
/// as `definite,indirect`) make it exit with a status of its own.
///
/// # Errors
/// If valgrind is missing.
pub fn valgrind(leaks: &str) -> Outcome<Command> {
    require("valgrind", "valgrind")?;
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--error-exitcode=9",
        "--num-callers=30",
        "--keep-debuginfo=yes",
        "--leak-check=full",
    ]);
    command.arg(format!("--suppressions={}/robustness/valgrind.supp", env!("CARGO_MANIFEST_DIR")));
    command
        .arg(format!("--show-leak-kinds={leaks}"))
        .arg(format!("--errors-for-leak-kinds={leaks}"));
    Ok(command)
}

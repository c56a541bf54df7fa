//! Runs programs and turns every failure into a message that shows what they printed.

use crate::Outcome;
use std::process::{Command, Output};

/// Runs `command` and gives what it wrote to standard output.
///
/// # Errors
/// When it cannot start or ends with another status than 0: the message has the command and all that it printed.
pub fn output_of(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?} ended with {}\n{}", output.status, everything(&output)).into())
}

fn everything(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    format!("--- stdout\n{stdout}\n--- stderr\n{stderr}")
}

/// Whether the checks with this tool run: true when it is there, false when the variable `FERRITE_WITHOUT` (names,
/// separated by commas) names it.
///
/// # Errors
/// When the tool is missing and nothing says that its checks may be left out.
pub fn require_tool(name: &str) -> Outcome<bool> {
    let without = std::env::var("FERRITE_WITHOUT").unwrap_or_default();
    if without.split(',').any(|left_out| left_out.trim() == name) {
        println!("left out: the checks with {name}, because FERRITE_WITHOUT names it");
        return Ok(false);
    }
    match Command::new(name).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(true),
        _ => Err(format!(
            "{name} is missing: install it, or set FERRITE_WITHOUT={name} to leave its checks out"
        )
        .into()),
    }
}

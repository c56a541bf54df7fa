//! Commands, and what stops the program.

use std::process::Command;

/// Result of what stops the program with a message.
pub type Result<T> = std::result::Result<T, String>;

/// Returns what a command prints, or an empty string if it fails.
pub fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success());
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

//! Runs the command, and compares its output with files.
#![allow(dead_code, reason = "each test program uses a part")]

use ferrite_tests::{Cc, Outcome, quickstart, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Output of the command, with paths of this machine replaced.
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the command with arguments and files.
pub fn ferrite(arguments: &[&str], files: &[&Path]) -> Outcome<Ran> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let output = command.args(arguments).args(files).output()?;
    let text = |bytes: &[u8]| {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            text = text.replace(&*file.to_string_lossy(), &name);
        }
        text
    };
    Ok(Ran {
        status: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    })
}

impl Ran {
    /// Returns the standard output of a success.
    pub fn success(self) -> Outcome<String> {
        match self.status {
            Some(0) => Ok(self.stdout),
            status => Err(format!("status {status:?}\n{}\n{}", self.stdout, self.stderr).into()),
        }
    }

    /// Returns the message of a failure with this status.
    pub fn failure(self, expected: i32) -> Outcome<String> {
        match self.status {
            Some(status) if status == expected && !self.stderr.contains("panicked") => {
                Ok(self.stderr)
            }
            status => Err(format!("status {status:?}\n{}\n{}", self.stdout, self.stderr).into()),
        }
    }
}

/// Parses JSON that the command printed.
pub fn json(text: &str) -> Outcome<serde_json::Value> {
    serde_json::from_str(text).map_err(|error| format!("{error}\n{text}").into())
}

/// Compiles the example kernels, which find the library's symbols in the program that loads them.
pub fn kernels(name: &str) -> Outcome<PathBuf> {
    let output = scratch(name)?.join("kernels.so");
    Cc::shared(output).strict().source(quickstart().join("kernels.c")).link()
}

/// Replaces sizes that depend on the compiler, and what the compiler adds.
pub fn without_sizes(text: &str) -> String {
    let is_size = |line: &str| {
        ["\"file\":", "\"code\":", "\"read_only\":", "\"data\":", "\"zeroed\":", "\"others\":"]
            .iter()
            .any(|key| line.trim_start().starts_with(key))
    };
    let line = |line: &str| match line {
        _ if line.contains(" bytes: code ") => "  SIZES\n".to_string(),
        _ if line.starts_with("  links ") => String::new(),
        _ if is_size(line) => line.split(':').next().unwrap_or_default().to_string() + ": N\n",
        _ => match line.split_once("; from other libraries: ") {
            Some((before, _)) => format!("{before}; from other libraries: N\n"),
            None => format!("{line}\n"),
        },
    };
    text.lines().map(line).collect()
}

/// Compares with a text file of `golden/`.
pub fn golden(name: &str, text: &str) -> Outcome<()> {
    golden_file(&format!("{name}.txt"), text)
}

/// Compares with a file of `golden/`.
pub fn golden_file(name: &str, text: &str) -> Outcome<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("FERRITE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, text)?;
    }
    let expected =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    if expected == text {
        return Ok(());
    }
    Err(format!("{name} differs. Found:\n{text}\nExpected:\n{expected}").into())
}

//! `ferrite check`: finds mistakes against the ABI, in the file and in calls of the functions.
//!
//! | file | finds |
//! |---|---|
//! | `file` | symbols of the wrong type, slots that are missing or read-only, malformed embedded modules, unknown symbols |
//! | `calls` | wrong statuses, errors and results, changed or retained arguments, leaks: in a child process per function |
//! | `sample` | arguments for the types of a signature |
//! | `raw` | calls without the conversions that would hide a mistake |

mod calls;
mod file;
#[allow(unsafe_code, reason = "cells and counts are looked at as they are")]
mod raw;
mod sample;

use serde::{Deserialize, Serialize};

use crate::arguments::Check;
use crate::failure::{Failure, Outcome};
use crate::library::{self, LibraryFile};

/// A mistake.
#[derive(Debug, Deserialize, Serialize)]
pub struct Finding {
    /// Name of the rule, such as `leak`.
    rule: String,
    /// Symbol or function; `None` for the whole library.
    symbol: Option<String>,
    message: String,
}

impl Finding {
    fn new(rule: &str, symbol: &str, message: impl Into<String>) -> Finding {
        Finding { rule: rule.into(), symbol: Some(symbol.into()), message: message.into() }
    }
}

/// Result of all checks.
#[derive(Serialize)]
struct Report {
    library: String,
    /// Functions that were called.
    called: Vec<String>,
    /// Checks that could not be made, with the reason.
    notes: Vec<String>,
    findings: Vec<Finding>,
}

/// Runs the command.
///
/// # Errors
/// [`Kind::Negative`](crate::failure::Kind::Negative) if there are mistakes.
pub fn run(options: &Check) -> Outcome<()> {
    if let Some(function) = &options.in_process {
        return calls::check_in_process(&options.library, function);
    }
    let bytes = library::read(&options.library)?;
    let file = LibraryFile::parse(&options.library, &bytes)?;
    let mut report = Report {
        library: options.library.display().to_string(),
        called: Vec::new(),
        notes: Vec::new(),
        findings: file::check(&file),
    };
    if options.no_calls {
        report.notes.push("no function was called".into());
    } else if !file.is_for_this_machine() || file.role() != "shared library" {
        report.notes.push("no function was called: this machine cannot load the file".into());
    } else if report.findings.iter().any(file::prevents_loading) {
        report.notes.push("no function was called: a loader would write to the context".into());
    } else {
        call_all(options, &file, &mut report)?;
    }
    let mistakes = report.findings.len();
    if options.json {
        crate::print_json(&report)?
    } else {
        crate::print(&text(&report))?
    }
    if mistakes == 0 { Ok(()) } else { Err(Failure::negative(format!("{mistakes} mistakes"))) }
}

fn call_all(options: &Check, file: &LibraryFile<'_>, report: &mut Report) -> Outcome<()> {
    // A loader would jump into what is no code.
    let functions = file.functions().into_iter().filter(|name| !file.is_data(&format!("__tvm_ffi_{name}")));
    for function in functions {
        match calls::check(&options.library, &function)? {
            calls::Checked::Found(findings) => {
                report.findings.extend(findings);
                report.called.push(function);
            }
            calls::Checked::NotLoaded(why) => {
                report
                    .notes
                    .push(format!("no function was called: {}", why.lines().next().unwrap_or_default()));
                return Ok(());
            }
        }
    }
    Ok(())
}

fn text(report: &Report) -> String {
    let mut text = format!("{}: {} functions called\n", report.library, report.called.len());
    for note in &report.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    for Finding { rule, symbol, message } in &report.findings {
        let symbol = symbol.as_ref().map_or(String::new(), |symbol| format!(" {symbol}:"));
        text.push_str(&format!("  [{rule}]{symbol} {message}\n"));
    }
    if report.findings.is_empty() {
        text.push_str("  no mistake found\n");
    }
    text
}

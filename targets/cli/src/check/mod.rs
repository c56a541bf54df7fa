//! `ferrite check`: finds mistakes against the ABI, in the file and in calls of the functions.
//!
//! | file | finds |
//! |---|---|
//! | `file` | symbols of the wrong type, slots that are missing or read-only, malformed embedded modules, unknown symbols |
//! | `calls` | wrong statuses, errors and results, changed or retained arguments, leaks: in a child process per function |
//! | `sample` | arguments for the types of a signature |
//! | `live` | counts of objects or memory, to find leaks |
//! | `finding` | the findings of all checks |
//! | `raw` | calls without the conversions that would hide a mistake |

mod calls;
mod file;
mod finding;
#[allow(unsafe_code, reason = "an allocator counts objects, or the C library its blocks")]
pub mod live;
#[allow(unsafe_code, reason = "cells and counts are looked at as they are")]
mod raw;
mod sample;

use std::collections::HashMap;

use serde::Serialize;

use crate::arguments::Check;
use crate::demangled::readable;
use crate::failure::{Failure, Outcome};
use crate::library::{self, LibraryFile};
use crate::output;

use finding::Finding;

/// Result of all checks.
#[derive(Serialize)]
struct Report {
    library: String,
    /// Functions that were called.
    called: Vec<String>,
    /// Checks that were skipped, with the reason.
    notes: Vec<String>,
    /// Reason why the library cannot be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_error: Option<String>,
    findings: Vec<Finding>,
}

/// Runs the command.
///
/// # Errors
/// [`Kind::Negative`](crate::failure::Kind::Negative) if there are mistakes; without any,
/// [`Kind::Load`](crate::failure::Kind::Load) if the library does not load.
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
        load_error: None,
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
        output::print_json(&report)?
    } else {
        output::print_report(&text(&report))?
    }
    match report.load_error {
        _ if mistakes > 0 => Err(Failure::negative(format!("{mistakes} mistakes"))),
        Some(why) => Err(Failure::load(why)),
        None => Ok(()),
    }
}

fn call_all(options: &Check, file: &LibraryFile<'_>, report: &mut Report) -> Outcome<()> {
    // A loader would jump into something that is not code.
    let mut functions = file.functions();
    functions.retain(|name| !file.is_data(&format!("__tvm_ffi_{name}")));
    match calls::load(&options.library, functions.is_empty())? {
        calls::Loaded::Unresolved(names) if names.is_empty() => {}
        calls::Loaded::Unresolved(names) => report.notes.push(unresolved(&names)),
        calls::Loaded::Refused(why) => {
            report.notes.push("no function was called: the library does not load".into());
            report.load_error = Some(why);
            return Ok(());
        }
    }
    for function in functions {
        report.findings.extend(calls::check(&options.library, &function)?);
        report.called.push(function);
    }
    Ok(())
}

/// Number of symbols that a note names.
const MOST_NAMES: usize = 5;

/// Returns the note about undefined symbols, such as those that only the program of a plug-in
/// defines.
fn unresolved(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(MOST_NAMES).map(|name| readable(name)).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    format!("{} symbols are in no library that it links: {}{more}", names.len(), shown.join(", "))
}

fn text(report: &Report) -> String {
    let mut text = format!("{}: {} functions called\n", report.library, report.called.len());
    for note in &report.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    for (Finding { rule, message, .. }, symbols) in grouped(&report.findings) {
        let symbols =
            if symbols.is_empty() { String::new() } else { format!(" {}:", symbols.join(", ")) };
        text.push_str(&format!("  [{rule}]{symbols} {message}\n"));
    }
    match (&report.load_error, report.findings.is_empty()) {
        (None, true) if report.notes.is_empty() || !report.called.is_empty() => {
            text.push_str("  no mistake found\n")
        }
        (_, true) => text.push_str("  no mistake found in the file\n"),
        (Some(why), false) => text.push_str(&format!("  {}\n", why.replace('\n', "\n  "))),
        (None, false) => {}
    }
    text
}

/// Returns the findings in order. Equal findings are merged, with the symbols of all.
fn grouped(findings: &[Finding]) -> Vec<(&Finding, Vec<&str>)> {
    let mut groups = Vec::new();
    let mut places = HashMap::new();
    for finding in findings {
        let place = *places.entry((&finding.rule, &finding.message)).or_insert_with(|| {
            groups.push((finding, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.extend(finding.symbol.as_deref());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_grouped_in_the_order_in_which_each_first_came() {
        let finding = |number: usize| Finding {
            rule: "rule".into(),
            message: format!("message {}", number % 100),
            symbol: Some(number.to_string()),
        };
        let findings: Vec<_> = (0..200).map(finding).collect();
        for (number, (first, symbols)) in grouped(&findings).into_iter().enumerate() {
            assert_eq!(first.message, format!("message {number}"));
            assert_eq!(symbols, [number.to_string(), (number + 100).to_string()]);
        }
    }
}

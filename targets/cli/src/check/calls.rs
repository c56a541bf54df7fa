//! Checks that call functions. Each function is called in a separate child process.

use std::path::Path;
use std::time::Duration;

use ferrite::{Any, Function, Module};

use crate::child::{self, End};
use crate::failure::{Failure, Kind, Outcome};
use crate::inspect::loaded;
use crate::loading;
use crate::signature::Signature;

use super::finding::Finding;
use super::raw::{self, Returned};
use super::{live, sample};

/// Time limit of the calls of one function.
const LIMIT: Duration = Duration::from_secs(20);

/// Number of consecutive calls that must leave objects behind to be reported as a leak: the first
/// may fill caches.
const CALLS: usize = 4;

/// Status of a failed function, and of one whose error the environment stores, such as a signal of
/// Python.
const FAILED: i32 = -1;
const ENVIRONMENT: i32 = -2;

/// Result of loading a library.
pub enum Loaded {
    /// The library loads. No library of the process defines these symbols, which are looked up on
    /// first use.
    Unresolved(Vec<String>),
    /// The library does not load; carries the reason.
    Refused(String),
}

/// Loads the library in a child process. `has_no_functions` states that no function will be
/// checked.
///
/// # Errors
/// [`Kind::Crash`] if the process crashes, and no other check would find it.
pub fn load(library: &Path, has_no_functions: bool) -> Outcome<Loaded> {
    match loaded::ask_child(library) {
        Ok(found) => Ok(Loaded::Unresolved(found.unresolved)),
        Err(failure) if failure.kind() == Kind::Load => Ok(Loaded::Refused(failure.to_string())),
        Err(failure) if failure.kind() == Kind::Crash && has_no_functions => Err(failure),
        // The checks of its functions find what is wrong.
        Err(_) => Ok(Loaded::Unresolved(Vec::new())),
    }
}

/// Error message of the dynamic linker when it ends a process for a missing symbol.
const SYMBOL_LOOKUP: &str = "symbol lookup error: ";

/// Checks a function in a child process.
pub fn check(library: &Path, function: &str) -> Outcome<Vec<Finding>> {
    let one = |rule: &str, message: String| vec![Finding::new(rule, function, message)];
    Ok(match child::ask(&["check", "--in-process", function], library, LIMIT)? {
        End::Answer(findings) => findings,
        End::Error { status, message } => match message.split_once(SYMBOL_LOOKUP) {
            Some((_, why)) => {
                one("unresolved-symbol", format!("a call ended the process: {}", why.trim()))
            }
            None => return Err(Failure::new(Kind::of_status(status), message)),
        },
        End::Crash(how) => one(
            "crash",
            format!("a call ended the process: {}", how.lines().next().unwrap_or_default()),
        ),
        End::Late => one("hang", format!("a call did not return in {} s", LIMIT.as_secs())),
    })
}

/// Checks a function in this process, and prints the mistakes.
pub fn check_in_process(library: &Path, name: &str) -> Outcome<()> {
    live::begin();
    let module = loading::load(library)?;
    let key = ferrite::String::new(name)?;
    let mut checker = Checker { name, found: Vec::new() };
    let signature = checker.texts(&module, &key);
    if let Some(function) = module.get_function(&key, false)? {
        checker.call_without_arguments(&function);
        if let Some(signature) = signature {
            checker.call_with_samples(&function, &signature)?;
        }
    }
    child::print_answer(&checker.found)
}

struct Checker<'a> {
    name: &'a str,
    found: Vec<Finding>,
}

impl Checker<'_> {
    /// Adds a finding, unless there is one of the same rule.
    fn report(&mut self, rule: &str, message: impl Into<String>) {
        if !self.found.iter().any(|finding| finding.rule == rule) {
            self.found.push(Finding::new(rule, self.name, message));
        }
    }

    /// Checks documentation and metadata. Returns the signature.
    fn texts(&mut self, module: &Module, key: &ferrite::String) -> Option<Signature> {
        if let Err(error) = module.function_doc(key, false) {
            self.report(
                "documentation",
                format!("the documentation is not a String: {}", error.message()),
            );
        }
        let metadata = match module.function_metadata(key, false) {
            Ok(metadata) => metadata?,
            Err(error) => {
                self.report(
                    "metadata",
                    format!("the metadata is not a String: {}", error.message()),
                );
                return None;
            }
        };
        let text = String::from_utf8_lossy(metadata.as_bytes()).into_owned();
        if let Err(error) = serde_json::from_str::<serde_json::Value>(&text) {
            self.report("metadata", format!("the metadata is not JSON: {error}"));
        }
        Signature::of_metadata(&text)
    }

    /// Calls the function without arguments, which most functions reject.
    fn call_without_arguments(&mut self, function: &Function) {
        self.call_repeatedly(function, &[], "without arguments");
    }

    /// Calls the function with a sample of each parameter type, and with None in place of the
    /// samples.
    fn call_with_samples(&mut self, function: &Function, signature: &Signature) -> Outcome<()> {
        let Some(arguments) = sample::arguments(signature)? else { return Ok(()) };
        if arguments.is_empty() {
            return Ok(());
        }
        let nothing: Vec<_> = arguments.iter().map(|_| Any::NONE).collect();
        self.call_repeatedly(function, &nothing, "with None");
        raw::keep_alive(&arguments);
        let before: Vec<_> = arguments.iter().map(raw::count_of).collect();
        let calls = self.call_repeatedly(function, &arguments, "with arguments of its types");
        for (index, (argument, before)) in arguments.iter().zip(before).enumerate() {
            let after = raw::count_of(argument);
            if after > before {
                let message =
                    format!("{calls} calls left {} references to argument {index}", after - before);
                self.report("retained-argument", message);
            } else if after < before {
                let message = format!(
                    "{calls} calls released argument {index}, which they borrow, {} times",
                    before - after
                );
                self.report("released-argument", message);
            }
        }
        Ok(())
    }

    /// Calls the function several times. Returns the number of calls.
    fn call_repeatedly(&mut self, function: &Function, arguments: &[Any], how: &str) -> usize {
        let mut counts = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let returned = raw::call(function, arguments);
            self.judge(&returned, how);
            if returned.status == 0 {
                raw::release(&returned);
            }
            drop(returned);
            counts.push(live::now());
        }
        // The first call may fill caches.
        if counts.iter().skip(1).zip(counts.iter().skip(2)).all(|(one, next)| next > one) {
            self.report(
                "leak",
                format!(
                    "each call {how} leaves {} behind: {} after {CALLS}",
                    live::UNIT,
                    counts[CALLS - 1] - counts[0]
                ),
            );
        }
        CALLS
    }

    /// Checks status, error and result of a call.
    fn judge(&mut self, returned: &Returned, how: &str) {
        match (returned.status, &returned.raised) {
            (0, Some(error)) => {
                let message = format!(
                    "a call {how} returned success, but left an error raised: {}",
                    error.message()
                );
                self.report("error-after-success", message);
            }
            (FAILED, None) => self
                .report("silent-failure", format!("a call {how} failed without raising an error")),
            (0 | FAILED | ENVIRONMENT, _) => {}
            (other, _) => self.report(
                "status",
                format!("a call {how} returned {other}, which is neither 0 nor -1"),
            ),
        }
        if returned.status != 0 && returned.has_result() {
            self.report(
                "result-after-failure",
                format!("a call {how} failed, but left a result, which no caller releases"),
            );
        }
        if returned.has_padding() {
            self.report(
                "result-padding",
                format!("a call {how} left bytes in the result that must be zero"),
            );
        }
        if returned.changed_arguments {
            self.report(
                "changed-argument",
                format!("a call {how} changed the array of its arguments"),
            );
        }
    }
}

//! Instructions per call: by the processor's counter, else by valgrind.

use std::process::Command;

use serde::Serialize;

use crate::arguments::{Bench, Counter};
use crate::failure::{Failure, Outcome};

use super::calls::Calls;
use super::perf_event::PerfEvent;

/// Instructions per call, without those of the loop.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Instructions {
    /// The count, and the name of the counter.
    Counted { per_call: f64, by: &'static str },
    /// No count, and the reason.
    Unavailable { reason: String },
}

/// Maximum number of calls that are counted: the number of instructions hardly differs between
/// calls.
const MOST: u64 = 10_000;

/// Numbers of calls in the two processes that run under valgrind, which is slow.
const FEW: u64 = 8;
const MORE: u64 = 108;

/// Counts the instructions of a call. `calls` is a number of calls that takes a noticeable time.
///
/// # Errors
/// The error of a call.
pub fn count(work: &Calls<'_>, options: &Bench, calls: u64) -> Outcome<Instructions> {
    let mut reasons = Vec::new();
    if matches!(options.instructions, Counter::Auto | Counter::Perf) {
        match PerfEvent::open() {
            Ok(counter) => return by_processor(work, &counter, calls.min(MOST)),
            Err(error) => {
                reasons.push(format!("the processor's counter cannot be opened ({error})"))
            }
        }
    }
    if matches!(options.instructions, Counter::Auto | Counter::Valgrind) {
        match by_valgrind(options) {
            Ok(per_call) => return Ok(Instructions::Counted { per_call, by: "valgrind" }),
            Err(failure) => reasons.push(failure.to_string()),
        }
    }
    if reasons.is_empty() {
        reasons.push("--instructions none".into());
    }
    Ok(Instructions::Unavailable { reason: reasons.join("; ") })
}

fn by_processor(work: &Calls<'_>, counter: &PerfEvent, calls: u64) -> Outcome<Instructions> {
    let failed = |error: std::io::Error| {
        Failure::negative(format!("cannot read the processor's counter: {error}"))
    };
    let start = counter.read().map_err(failed)?;
    work.run(calls)?;
    let middle = counter.read().map_err(failed)?;
    work.run_empty(calls);
    let end = counter.read().map_err(failed)?;
    let net = middle.saturating_sub(start) as f64 - end.saturating_sub(middle) as f64;
    Ok(Instructions::Counted { per_call: net.max(0.0) / calls as f64, by: "perf_event_open" })
}

/// Counts instructions under valgrind. One process makes more calls and fewer rounds of the empty
/// loop than the other, so that the difference is the cost of the calls alone.
fn by_valgrind(options: &Bench) -> Outcome<f64> {
    let more = valgrind(options, MORE, FEW)?;
    let few = valgrind(options, FEW, MORE)?;
    Ok(more.saturating_sub(few) as f64 / (MORE - FEW) as f64)
}

/// Returns the number of instructions of a process with calls and empty rounds of the loop.
fn valgrind(options: &Bench, calls: u64, empty: u64) -> Outcome<u64> {
    let program = std::env::current_exe().map_err(Failure::missing)?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).arg("bench");
    command.args(["--in-process", &calls.to_string(), &empty.to_string(), "--"]);
    command.arg(&options.call.library).arg(&options.call.function).args(&options.call.arguments);
    let output = command
        .output()
        .map_err(|error| Failure::missing(format!("valgrind cannot be started ({error})")))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or_default();
    if !output.status.success() {
        return Err(Failure::negative(format!("valgrind failed ({}: {last})", output.status)));
    }
    collected(&text).ok_or_else(|| {
        Failure::negative(format!("valgrind printed no number of instructions ({last})"))
    })
}

/// Reads `Collected : 123` in the output of valgrind.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.split_once("Collected : "))?;
    line.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_output_of_valgrind_is_read() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 1234\n==1==\n"), Some(1234));
        assert_eq!(collected("==1== Collected : many"), None);
        assert_eq!(collected(""), None);
    }
}

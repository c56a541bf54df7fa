//! `ferrite bench`: time and instructions of a call.
//!
//! | file | does |
//! |---|---|
//! | `calls` | the loops: with calls, and without |
//! | `clock` | time per call, over several runs |
//! | `instructions` | instructions per call, by the processor's counter or by valgrind |
//! | `perf_event` | the counter of the processor |

#[allow(unsafe_code, reason = "functions are called as C code calls them")]
mod calls;
mod clock;
mod instructions;
#[allow(unsafe_code, reason = "a system call opens the counter")]
mod perf_event;

use serde::Serialize;

use crate::arguments::Bench;
use crate::call;
use crate::failure::Outcome;
use crate::output;

use calls::Calls;
use clock::Times;
use instructions::Instructions;

/// Results of the command.
#[derive(Serialize)]
struct Report {
    library: String,
    function: String,
    /// Nanoseconds per call.
    nanoseconds: Times,
    instructions: Instructions,
}

/// Runs the command.
///
/// # Errors
/// Same errors as `ferrite call`.
pub fn run(options: &Bench) -> Outcome<()> {
    let prepared =
        call::prepare(&options.call.library, &options.call.function, &options.call.arguments)?;
    let views = prepared.views();
    let calls = Calls::new(&prepared.function, &views);
    if let Some([with, without]) = options.in_process.as_deref() {
        calls.run(*with)?;
        calls.run_empty(*without);
        return Ok(());
    }
    let nanoseconds = clock::measure(&calls, options.runs)?;
    let report = Report {
        library: options.call.library.display().to_string(),
        function: options.call.function.clone(),
        instructions: instructions::count(&calls, options, nanoseconds.calls)?,
        nanoseconds,
    };
    if options.call.json {
        output::print_json(&report)
    } else {
        output::print_report(&text(&report))
    }
}

fn text(report: &Report) -> String {
    let Times { median, min, quartiles: [first, third], runs, calls } = report.nanoseconds;
    let counted = match &report.instructions {
        Instructions::Counted { per_call, by } => {
            format!("{per_call:.1} per call, counted by {by}")
        }
        Instructions::Unavailable { reason } => format!("not counted: {reason}"),
    };
    format!(
        "{} of {}\n  time          median {median:.1} ns, least {min:.1} ns, middle half {first:.1} to {third:.1} ns \
         ({runs} runs of {calls} calls)\n  instructions  {counted}\n",
        report.function, report.library
    )
}

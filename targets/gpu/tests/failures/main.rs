//! Tests failing drivers, on the stand-ins: each call of a scenario fails in turn, in a process of
//! its own. Each failure is reported as an error that names it, except in calls that release
//! resources; nothing leaks, and the next attempt succeeds.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]
#![cfg_attr(
    not(any(feature = "cuda", feature = "rocm")),
    allow(dead_code, reason = "no kind has such a driver")
)]

#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "rocm")]
mod rocm;
#[path = "../support/mod.rs"]
mod support;

use ferrite_core::error::{Error, Result};
use support::calls::message;
use support::fork::in_child;
use support::stand_in::{Live, StandIn};

// Exit statuses of a child.
const NOT_REACHED: i32 = 3;
const AN_ERROR: i32 = 4;
const SILENT: i32 = 5;
const WRONG: i32 = 6;
/// Failure of a scenario in which no call failed.
const WRONG_AT_THE_END: i32 = 7;

const UNKNOWN: i32 = 999;
const OUT_OF_MEMORY: i32 = 2;

/// A row of the table of kinds.
struct Kind {
    name: &'static str,
    /// Opens the stand-in; `None` on a real driver, which does not fail on request.
    open: fn() -> Option<StandIn>,
    /// Calls every driver function that the back end uses.
    scenario: fn(StandIn) -> Result<()>,
    /// Calls whose errors are ignored: they release a resource, restore the caller's context or
    /// device, or are followed by another attempt.
    releases: &'static [&'static str],
    /// Returns whether an error is that of a call that failed with a code.
    describes: fn(&Error, &str, i32) -> bool,
    /// Call whose failure keeps a module loaded, since its kernels may be running.
    keeps_module: &'static str,
    /// The least numbers of calls that become errors, and that do not.
    least: (u32, u32),
}

const KINDS: &[Kind] = &[
    #[cfg(feature = "cuda")]
    cuda::KIND,
    #[cfg(feature = "rocm")]
    rocm::KIND,
];

/// Fails the `call`-th call of a scenario, and checks the consequences. Runs in a child.
fn attempt(kind: &Kind, driver: StandIn, call: u64, code: i32) -> i32 {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    driver.fail(call, code);
    let result = (kind.scenario)(driver);
    let failed = driver.failed();
    driver.fail(0, 0);
    let complain = |text: String| {
        eprintln!("{}, call {call} with code {code}, {failed:?}: {text}", kind.name);
        if failed.is_some() { WRONG } else { WRONG_AT_THE_END }
    };
    let live = driver.live();
    let kept = u64::from(failed.as_deref() == Some(kind.keeps_module));
    if (Live { modules: 0, ..live }) != Live::default() || live.modules > kept {
        return complain(format!("leaked: {live:?}"));
    }
    if let Some(text) = driver.complaint() {
        return complain(text);
    }
    let outcome = match (result, failed.as_deref()) {
        (Ok(()), None) => return NOT_REACHED,
        (Err(error), None) => {
            return complain(format!("failed without a reason: {}", message(&error)));
        }
        (Ok(()), Some(name)) if kind.releases.contains(&name) => SILENT,
        (Ok(()), Some(_)) => return complain("no error".into()),
        (Err(error), Some(name)) if !(kind.describes)(&error, name, code) => {
            return complain(format!("the error does not tell: {}", message(&error)));
        }
        (Err(_), Some(_)) => AN_ERROR,
    };
    // The next attempt succeeds, whatever failed.
    match (kind.scenario)(driver) {
        Ok(()) if driver.live() == live => outcome,
        Ok(()) => complain(format!("leaked afterwards: {:?}", driver.live())),
        Err(error) => complain(format!("fails afterwards: {}", message(&error))),
    }
}

/// Fails each call of a kind in turn, with two codes.
fn fail_each(kind: &Kind, driver: StandIn) {
    let (mut errors, mut silent, mut wrong) = (0, 0, 0);
    for code in [UNKNOWN, OUT_OF_MEMORY] {
        for call in 1.. {
            match in_child(|| attempt(kind, driver, call, code)) {
                AN_ERROR => errors += 1,
                SILENT => silent += 1,
                NOT_REACHED => break,
                WRONG_AT_THE_END => {
                    wrong += 1;
                    break;
                }
                _ => wrong += 1,
            }
        }
    }
    println!(
        "{}: driver calls that failed: {errors} were errors, {silent} gave something up, {wrong} were handled wrongly",
        kind.name
    );
    assert!(errors > kind.least.0 && silent > kind.least.1, "the scenario calls the driver");
    assert_eq!(wrong, 0);
}

fn main() {
    for kind in KINDS {
        match (kind.open)() {
            Some(driver) => fail_each(kind, driver),
            None => println!("not run on a real driver: calls that fail, of {}", kind.name),
        }
    }
}

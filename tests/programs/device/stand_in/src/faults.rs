//! Requested failures, call counts, and complaints about invalid calls.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reason why a call fails. Each driver has its own error codes for the reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    OutOfMemory,
    NotInitialized,
    NoDevice,
    InvalidDevice,
    InvalidContext,
    InvalidValue,
    InvalidHandle,
    InvalidImage,
    NotFound,
    TooLargeLaunch,
    IllegalAddress,
    /// A call that cannot be recorded.
    NotRecordable,
    /// The end of a recording in which such a call was made.
    SpoiledRecording,
    /// Error code requested by the test.
    Requested(i32),
}

/// Result of a call of the machine.
pub type Outcome<T> = Result<T, Fault>;

pub struct Faults {
    /// Number of calls since the last reset.
    pub calls: u64,
    /// Number of calls by name.
    pub counts: BTreeMap<&'static str, u64>,
    /// Number of the call to fail, counted from the last reset, and its code.
    request: Option<(u64, i32)>,
    /// Name of the call that failed on request.
    pub failed: Option<&'static str>,
    pub complaints: Vec<String>,
}

static FAULTS: Mutex<Faults> = Mutex::new(Faults::new());

impl Faults {
    const fn new() -> Faults {
        Faults {
            calls: 0,
            counts: BTreeMap::new(),
            request: None,
            failed: None,
            complaints: Vec::new(),
        }
    }

    /// Makes the `call`-th call from now fail with `code`. With 0, no call fails.
    pub fn request(&mut self, call: u64, code: i32) {
        self.request = (call != 0).then_some((self.calls + call, code));
        self.failed = None;
    }
}

pub fn faults() -> MutexGuard<'static, Faults> {
    FAULTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Clears counts, requests and complaints.
pub fn reset() {
    *faults() = Faults::new();
}

/// Counts a call. Returns a fault if the call must fail.
pub fn enter(name: &'static str) -> Outcome<()> {
    let mut faults = faults();
    faults.calls += 1;
    *faults.counts.entry(name).or_insert(0) += 1;
    match faults.request {
        Some((call, code)) if call == faults.calls => {
            faults.failed = Some(name);
            Err(Fault::Requested(code))
        }
        _ => Ok(()),
    }
}

/// Records an invalid call by a faulty library. Returns the fault of the call.
pub fn complain(fault: Fault, text: String) -> Fault {
    faults().complaints.push(text);
    fault
}

//! Time of each function that a machine's instructions call.

use core::cmp::Reverse;
use core::fmt;
use std::time::{Duration, Instant};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::{Machine, UseGuard};
use crate::executable::Executable;

/// Calls and time of one function: a kernel, a builtin, or a function of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorTime {
    /// Number of calls.
    pub calls: u64,
    /// Time of all calls, including the functions that they call.
    pub time: Duration,
}

/// Calls and time of each function that a machine called.
///
/// `Display` writes a table with a line for each function, the longest time first. Only calls made
/// by instructions are counted: native functions (exec_mode `compiled`) make their calls directly.
pub struct Profile {
    executable: Executable,
    /// One entry for each function of the executable.
    times: Buffer<OperatorTime>,
}

impl Profile {
    fn new(executable: &Executable) -> Result<Profile> {
        let count = executable.functions().len();
        let mut times = Buffer::try_with_capacity(count)?;
        (0..count).try_for_each(|_| times.try_push(OperatorTime::default()))?;
        Ok(Profile { executable: executable.clone(), times })
    }

    fn count(&mut self, function: usize, time: Duration) {
        if let Some(entry) = self.times.get_mut(function) {
            entry.calls += 1;
            entry.time += time;
        }
    }

    /// Returns the functions that were called, the longest time first, with their names.
    ///
    /// # Errors
    /// MemoryError.
    pub fn operators(&self) -> Result<Buffer<(&str, OperatorTime)>> {
        let mut operators = Buffer::try_with_capacity(self.times.len())?;
        for (info, time) in self.executable.functions().iter().zip(self.times.iter()) {
            if time.calls > 0 {
                let name = core::str::from_utf8(self.executable.name(info)).unwrap_or_default();
                operators.try_push((name, *time))?;
            }
        }
        operators.as_mut_slice().sort_unstable_by_key(|(_, entry)| Reverse(entry.time));
        Ok(operators)
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.operators().map_err(|_| fmt::Error)?.iter().copied()).finish()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<40} {:>10} {:>16}", "operator", "calls", "microseconds")?;
        for (name, OperatorTime { calls, time }) in self.operators().map_err(|_| fmt::Error)?.iter()
        {
            writeln!(f, "{name:<40} {calls:>10} {:>16.3}", time.as_secs_f64() * 1e6)?;
        }
        Ok(())
    }
}

impl Machine {
    /// Runs `body`, and returns its result with the calls and times of the functions that the
    /// machine called. An instrument stays in use; its own time is not counted.
    ///
    /// # Errors
    /// Errors of `body`; RuntimeError while another thread uses the machine, and within another
    /// profile; MemoryError.
    pub fn profile<R>(&self, body: impl FnOnce() -> Result<R>) -> Result<(R, Profile)> {
        let profile = Profile::new(self.executable())?;
        // Keeps the machine for this thread.
        let entry = self.enter()?;
        // Calls of `body` are not the outermost use; within a call, the address is set, and the
        // pools are borrowed.
        if entry.is_outermost() {
            entry.set_address();
        }
        entry.begin_profile(profile)?;
        let _end = End(&entry);
        let result = body()?;
        match entry.take_profile() {
            Some(profile) => Ok((result, profile)),
            None => {
                Err(ferrite_core::plain_error!(RUNTIME_ERROR, "The profile was ended meanwhile"))
            }
        }
    }
}

/// Guard that ends the profile when `body` fails or panics.
struct End<'a>(&'a UseGuard<'a>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        drop(self.0.take_profile());
    }
}

impl UseGuard<'_> {
    fn begin_profile(&self, profile: Profile) -> Result<()> {
        let state = self.state();
        ferrite_core::plain_ensure!(
            state.profile.is_none(),
            RUNTIME_ERROR,
            "The machine has a profile already"
        );
        state.profile = Some(profile);
        state.is_observed = true;
        Ok(())
    }

    fn take_profile(&self) -> Option<Profile> {
        let state = self.state();
        let profile = state.profile.take();
        state.is_observed = state.instrument.is_some();
        profile
    }
}

/// Runs a call of a function, and counts it if the machine has a profile.
pub(super) fn call_timed<R>(
    entry: &UseGuard<'_>,
    function: usize,
    call: impl FnOnce() -> Result<R>,
) -> Result<R> {
    if entry.state().profile.is_none() {
        return call();
    }
    let start = Instant::now();
    let result = call();
    let time = start.elapsed();
    if let Some(profile) = &mut entry.state().profile {
        profile.count(function, time);
    }
    result
}

//! Runs a property with generated inputs on both libraries, and compares the transcripts.

use super::Library;
use super::pair::Pair;
use ferrite_tests::{Failure, Outcome, root};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestError, TestRunner};
use std::fmt::Display;
use std::thread;

/// Stack size in bytes. It is large, since upstream recurses into values, with several frames per
/// level.
const STACK_BYTES: usize = 1 << 30;

/// Time limit of shrinking an input in milliseconds: inputs with ten thousand steps could take
/// hours.
const SHRINK_MILLISECONDS: u32 = 60_000;

/// Record of everything that is visible to a client of one library, line by line.
#[derive(Default)]
pub struct Transcript(Vec<String>);

impl Transcript {
    /// Records a step.
    pub fn note(&mut self, line: impl Display) {
        self.0.push(line.to_string());
    }

    /// Records the outcome of a call.
    pub fn result<T: Display, E: Display>(&mut self, what: &str, result: &Result<T, E>) {
        match result {
            Ok(value) => self.note(format_args!("{what} = {value}")),
            Err(error) => self.note(format_args!("{what} raises {error}")),
        }
    }

    /// Returns the first difference of two transcripts.
    fn difference(&self, other: &Self) -> Option<String> {
        let longer = self.0.len().max(other.0.len());
        let line =
            |of: &Self, at: usize| of.0.get(at).map_or("(nothing)".to_string(), Clone::clone);
        let at = (0..longer).find(|&at| self.0.get(at) != other.0.get(at))?;
        Some(format!(
            "step {at}\n  upstream's: {}\n  ours:       {}",
            line(other, at),
            line(self, at)
        ))
    }
}

/// Runs `observe` on both libraries for `cases` inputs, and fails with the smallest input whose
/// transcripts differ.
pub fn check<S>(
    name: &'static str,
    cases: u32,
    inputs: impl FnOnce() -> S + Send,
    observe: impl Fn(&'static Library, &S::Value, &mut Transcript) + Send,
) -> Outcome<()>
where
    S: Strategy,
{
    let pair = Pair::get()?;
    let body = || run(pair, name, cases, inputs(), observe);
    thread::scope(|scope| {
        let started = thread::Builder::new()
            .name(name.into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, body)?;
        started.join().unwrap_or_else(|_| Err(format!("{name} panicked").into()))
    })
}

fn run<S: Strategy>(
    pair: &'static Pair,
    name: &'static str,
    cases: u32,
    inputs: S,
    observe: impl Fn(&'static Library, &S::Value, &mut Transcript),
) -> Outcome<()> {
    let mut runner = TestRunner::new(config(name, cases)?);
    let result = runner.run(&inputs, |input| {
        let [mut ours, mut upstream] = [Transcript::default(), Transcript::default()];
        observe(pair.upstream, &input, &mut upstream);
        observe(pair.ours, &input, &mut ours);
        match ours.difference(&upstream) {
            None => Ok(()),
            Some(difference) => Err(TestCaseError::fail(difference)),
        }
    });
    result.map_err(|error| explain(name, error))
}

fn config(name: &str, cases: u32) -> Outcome<Config> {
    let times: u32 = match std::env::var("PARITY_TIMES") {
        Ok(times) => times.parse().map_err(|_| format!("PARITY_TIMES={times} is not a number"))?,
        Err(_) => 1,
    };
    let kept: &str = root()
        .join(format!("tests/conformance/parity/regressions/{name}.txt"))
        .display()
        .to_string()
        .leak();
    Ok(Config {
        cases: cases.saturating_mul(times),
        max_shrink_iters: 20_000,
        max_shrink_time: SHRINK_MILLISECONDS,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(kept))),
        ..Config::default()
    })
}

fn explain<T: std::fmt::Debug>(name: &str, error: TestError<T>) -> Failure {
    match error {
        TestError::Fail(reason, input) => format!("{name}: {reason}\n  input: {input:?}"),
        TestError::Abort(reason) => format!("{name}: no inputs: {reason}"),
    }
    .into()
}

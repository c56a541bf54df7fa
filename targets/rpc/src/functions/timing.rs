//! Measures how long a function runs: `time_evaluator` of the front ends.

use ferrite_core::abi::DLDevice;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Bytes, Function, Result, String, plain_bail};

/// Interface of a measurement to its surroundings.
pub trait Timing: Send + Sync + 'static {
    /// Finds a function of a module, also in its imports, or a global function if the module is
    /// None. Returns `None` if there is none.
    ///
    /// # Errors
    /// TypeError if the first value is not a module; the reason for which the function may not be
    /// called.
    fn function(&self, module: AnyView<'_>, name: &String) -> Result<Option<Function>>;

    /// Returns the nanoseconds since a fixed point in time.
    fn now(&self) -> u64;

    /// Waits.
    fn pause(&self, milliseconds: u32);

    /// Waits until all work of the device's default stream is complete.
    ///
    /// # Errors
    /// Errors of the device.
    fn synchronize(&self, device: DLDevice) -> Result<()>;

    /// Writes that many bytes in main memory, which then fill the processor's caches. The default
    /// implementation does nothing.
    ///
    /// # Errors
    /// MemoryError.
    fn fill_caches(&self, bytes: usize) -> Result<()> {
        let _ = bytes;
        Ok(())
    }
}

/// A function that is measured, and how.
struct Measurement<T> {
    timing: T,
    function: Function,
    /// Called with the arguments before each repetition.
    prepare: Option<Function>,
    device: DLDevice,
    /// Number of calls in a repetition, at first.
    number: u64,
    repeat: u64,
    /// Minimum duration of a repetition in nanoseconds. The number of calls is increased until it
    /// is reached.
    least: u64,
    /// Maximum number of repetitions of which the clock sees nothing.
    zeros: u64,
    pause: u32,
    repeats_until_pause: u64,
    cache_bytes: usize,
}

/// Upper limit of the number of calls in a repetition.
const MOST_CALLS: u64 = 1_000_000_000_000;
const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;

/// Creates a function that measures another one. Takes `(module, name, device_type, device_id,
/// number, repeat, min_repeat_ms[, f_preproc])`, as of TVM 0.5, and since 0.14 `(..,
/// min_repeat_ms, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown,
/// cache_flush_bytes, f_preproc)`. A module of None means a global function. The result takes the
/// arguments of the function, and returns the seconds per call of each repetition as bytes of
/// doubles, after one call that is not measured.
///
/// # Errors
/// TypeError for other arguments, AttributeError and ValueError for names without a function, and
/// those of [`Timing::function`].
///
/// # Upstream
/// `runtime.RPCTimeEvaluator`.
pub fn time_evaluator<T: Timing>(timing: T, args: &[AnyView<'_>]) -> Result<Any> {
    let [module, name, device_type, device_id, number, repeat, least, rest @ ..] = args else {
        plain_bail!(TYPE_ERROR, "A module, a name, a device and three numbers were expected"; "too few arguments");
    };
    let name = name.get::<String>()?;
    let Some(function) = timing.function(*module, &name)? else {
        plain_bail!(ATTRIBUTE_ERROR, "There is no function {}", name.as_bytes(); "no function");
    };
    let number_at = |place: usize, missing: u64| match rest {
        [numbers @ .., _] => numbers.get(place).map_or(Ok(missing), |value| positive(*value)),
        [] => Ok(missing),
    };
    let device = DLDevice { device_type: int(*device_type)?, device_id: int(*device_id)? };
    let measurement = Measurement {
        prepare: prepare(&timing, rest.last())?,
        function,
        device,
        number: positive(*number)?.max(1),
        repeat: positive(*repeat)?,
        least: positive(*least)?.saturating_mul(NANOSECONDS_PER_MILLISECOND),
        zeros: number_at(0, 100)?.max(1),
        pause: u32::try_from(number_at(1, 0)?).unwrap_or(u32::MAX),
        repeats_until_pause: number_at(2, 1)?.max(1),
        cache_bytes: usize::try_from(number_at(3, 0)?).unwrap_or(usize::MAX),
        timing,
    };
    Function::from_packed(move |args| measurement.run(args)).map(Any::from)
}

/// Finds the function that prepares a repetition; `None` for an empty name.
fn prepare(timing: &impl Timing, name: Option<&AnyView<'_>>) -> Result<Option<Function>> {
    let name = name.map_or(Ok(String::EMPTY), |name| name.get::<String>())?;
    if name.as_bytes().is_empty() {
        return Ok(None);
    }
    match timing.function(AnyView::NONE, &name)? {
        None => {
            plain_bail!(VALUE_ERROR, "There is no global function {}", name.as_bytes(); "no function")
        }
        found => Ok(found),
    }
}

fn int(value: AnyView<'_>) -> Result<i32> {
    Ok(value.get::<i64>()? as i32)
}

/// Reads a number, and zero for those below.
fn positive(value: AnyView<'_>) -> Result<u64> {
    Ok(value.get::<i64>()?.max(0) as u64)
}

impl<T: Timing> Measurement<T> {
    fn run(&self, args: &[AnyView<'_>]) -> Result<Any> {
        self.measure(1, args)?;
        let mut seconds = Buffer::new();
        for turn in 1..=self.repeat {
            if let Some(prepare) = &self.prepare {
                prepare.call_packed(args)?;
            }
            seconds.try_extend_from_slice(&self.repetition(args)?.to_ne_bytes())?;
            if self.pause != 0 && turn % self.repeats_until_pause == 0 {
                self.timing.pause(self.pause);
            }
        }
        Bytes::new(&seconds).map(Any::from)
    }

    /// Returns the seconds per call of one repetition.
    fn repetition(&self, args: &[AnyView<'_>]) -> Result<f64> {
        let (mut number, mut zeros) = (self.number, 0);
        loop {
            if self.cache_bytes != 0 {
                self.timing.fill_caches(self.cache_bytes)?;
            }
            let time = self.measure(number, args)?;
            zeros += u64::from(time == 0);
            if time >= self.least || zeros >= self.zeros {
                return Ok(time as f64 / number as f64 / 1e9);
            }
            number = more_calls(number, time, self.least);
        }
    }

    /// Returns the nanoseconds of several calls.
    fn measure(&self, number: u64, args: &[AnyView<'_>]) -> Result<u64> {
        self.timing.synchronize(self.device)?;
        let start = self.timing.now();
        for _ in 0..number {
            self.function.call_packed(args)?;
        }
        self.timing.synchronize(self.device)?;
        Ok(self.timing.now().saturating_sub(start))
    }
}

/// Returns the number of calls of a next attempt, after `number` calls took `time` instead of at
/// least `least`: increased by the golden ratio at least, which few attempts exceed by much.
fn more_calls(number: u64, time: u64, least: u64) -> u64 {
    let needed = match time {
        0 => 0,
        // Rounded down, so that more calls are made than necessary.
        _ => least / (time / number).max(1),
    };
    (number.saturating_mul(1618) / 1000).max(needed).saturating_add(1).min(MOST_CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::sync::Arc;
    use std::vec::Vec;

    /// A clock that advances with each call of the measured function.
    #[derive(Clone, Default)]
    struct Counted {
        time: Arc<AtomicU64>,
        calls: Arc<AtomicU64>,
        prepared: Arc<AtomicU64>,
        paused: Arc<AtomicU64>,
        step: u64,
    }

    impl Timing for Counted {
        fn function(&self, module: AnyView<'_>, name: &String) -> Result<Option<Function>> {
            assert!(module.is_none());
            let (own, step) = (self.clone(), self.step);
            match name.as_bytes() {
                b"work" => Function::from_packed(move |_| {
                    own.calls.fetch_add(1, Relaxed);
                    own.time.fetch_add(step, Relaxed);
                    Ok(Any::NONE)
                }),
                b"prepare" => Function::from_packed(move |_| {
                    own.prepared.fetch_add(1, Relaxed);
                    Ok(Any::NONE)
                }),
                _ => return Ok(None),
            }
            .map(Some)
        }

        fn now(&self) -> u64 {
            self.time.load(Relaxed)
        }

        fn pause(&self, milliseconds: u32) {
            self.paused.fetch_add(milliseconds.into(), Relaxed);
        }

        fn synchronize(&self, device: DLDevice) -> Result<()> {
            assert_eq!((device.device_type, device.device_id), (1, 0));
            Ok(())
        }
    }

    fn measure(timing: &Counted, name: &str, numbers: &[i64], last: &str) -> Result<Vec<f64>> {
        let (name, last) = (String::new(name)?, String::new(last)?);
        let mut args = std::vec![AnyView::NONE, (&name).into(), 1i64.into(), 0i64.into()];
        args.extend(numbers.iter().map(|number| AnyView::from(*number)));
        args.push((&last).into());
        let function = time_evaluator(timing.clone(), &args)?.get::<Function>()?;
        let bytes = function.call_packed(&[])?.get::<Bytes>()?;
        let doubles = bytes.as_bytes().chunks_exact(8);
        Ok(doubles.map(|eight| f64::from_ne_bytes(eight.try_into().unwrap())).collect())
    }

    #[test]
    fn repetitions_reach_their_least_time() -> Result<()> {
        let timing = Counted { step: 1000, ..Counted::default() };
        // Two repetitions of at least a millisecond, from 10 calls on.
        assert_eq!(measure(&timing, "work", &[10, 2, 1], "")?, [1e-6, 1e-6]);
        assert_eq!(timing.calls.load(Relaxed), 1 + 2 * (10 + 1001));
        Ok(())
    }

    #[test]
    fn a_clock_that_stands_ends_after_the_limit() -> Result<()> {
        let timing = Counted::default();
        assert_eq!(measure(&timing, "work", &[1, 1, 5, 3, 0, 1, 0], "")?, [0.0]);
        assert_eq!(timing.calls.load(Relaxed), 1 + 1 + 2 + 4);
        Ok(())
    }

    #[test]
    fn repetitions_are_prepared_and_pause() -> Result<()> {
        let timing = Counted { step: 5, ..Counted::default() };
        let times = measure(&timing, "work", &[1, 6, 0, 100, 7, 3, 1 << 20], "prepare")?;
        assert_eq!(times.len(), 6);
        assert_eq!((timing.prepared.load(Relaxed), timing.paused.load(Relaxed)), (6, 2 * 7));
        Ok(())
    }

    #[test]
    fn unknown_functions_are_errors() {
        let timing = Counted::default();
        for (name, last, kind) in [("none", "", "AttributeError"), ("work", "none", "ValueError")] {
            let error = measure(&timing, name, &[1, 1, 0], last).err();
            assert_eq!(error.map(|error| error.kind_bytes().to_vec()), Some(kind.into()));
        }
        assert!(time_evaluator(timing, &[]).is_err());
    }

    #[test]
    fn the_number_of_calls_is_bounded() {
        assert_eq!(more_calls(10, 10_000, 1_000_000), 1001);
        assert_eq!(more_calls(1000, 999_000, 1_000_000), 1619);
        assert_eq!(more_calls(1, 0, u64::MAX), 2);
        assert_eq!(more_calls(u64::MAX, 1, u64::MAX), MOST_CALLS);
    }
}

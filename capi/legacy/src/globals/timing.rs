//! Global functions that measure how long a function of a module runs: `time_evaluator` of the
//! front ends.

use core::ffi::c_int;
use std::time::{Duration, Instant};

use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Bytes, Function, String, plain_bail, static_function};

use crate::back_end::synchronize;

/// Functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] =
    &[static_function!(packed "module._RPCTimeEvaluator", time_evaluator)];

/// Functions of TVM 0.7 and later.
pub const RUNTIME: &[StaticFunction] =
    &[static_function!(packed "runtime.RPCTimeEvaluator", time_evaluator)];

/// Parameters of a measurement.
struct Measurement {
    function: Function,
    /// Called with the arguments before each repetition.
    prepare: Option<Function>,
    device: DLDevice,
    /// Number of calls in a repetition, at first.
    number: i64,
    repeat: i64,
    /// Minimum duration of a repetition. The number of calls is increased until it is reached.
    least: Duration,
    /// Maximum number of increases of `number` while the clock does not advance.
    limit: i64,
    pause: Duration,
    repeats_until_pause: i64,
}

/// Creates a function that measures another one. Takes
/// `(module, name, device_type, device_id, number, repeat, min_repeat_ms[,
/// f_preproc])`, and since 0.14 `(.., min_repeat_ms, limit_zero_time_iterations,
/// cooldown_interval_ms, repeats_to_cooldown, cache_flush_bytes,
/// f_preproc)`; caches are not flushed. The function returns the seconds per call of each
/// repetition, as the bytes of doubles.
fn time_evaluator(args: &[AnyView<'_>]) -> Result<Any> {
    let [module, name, device_type, device_id, number, repeat, least, rest @ ..] = args else {
        plain_bail!(TYPE_ERROR, "A module, a name, a device and three numbers were expected");
    };
    let (name, prepare) =
        (name.get::<String>()?, rest.last().map_or(Ok(String::EMPTY), |name| name.get())?);
    let Some(function) = module.get::<Module>()?.get_function(&name, true)? else {
        plain_bail!(ATTRIBUTE_ERROR, "The module has no function {}", name.as_bytes());
    };
    let number_at = |place: usize, missing: i64| match rest {
        [numbers @ .., _] if place < numbers.len() => numbers[place].get::<i64>(),
        _ => Ok(missing),
    };
    let measurement = Measurement {
        function,
        prepare: match prepare.as_bytes() {
            b"" => None,
            name => Some(match global_table::get(name)? {
                Some(function) => function,
                None => plain_bail!(VALUE_ERROR, "There is no global function {}", name),
            }),
        },
        device: DLDevice {
            device_type: device_type.get::<i64>()? as c_int,
            device_id: device_id.get::<i64>()? as c_int,
        },
        number: number.get::<i64>()?.max(1),
        repeat: repeat.get::<i64>()?.max(0),
        least: milliseconds(least.get()?),
        limit: number_at(0, 100)?,
        pause: milliseconds(number_at(1, 0)?),
        repeats_until_pause: number_at(2, 1)?.max(1),
    };
    Function::from_packed(move |args| measurement.run(args)).map(Any::from)
}

fn milliseconds(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(0))
}

impl Measurement {
    fn run(&self, args: &[AnyView<'_>]) -> Result<Any> {
        self.measure(1, args)?;
        let mut seconds = Buffer::new();
        for turn in 0..self.repeat {
            if let Some(prepare) = &self.prepare {
                prepare.call_packed(args)?;
            }
            seconds.try_extend_from_slice(&self.repetition(args)?.to_ne_bytes())?;
            if !self.pause.is_zero() && (turn + 1) % self.repeats_until_pause == 0 {
                std::thread::sleep(self.pause);
            }
        }
        Bytes::new(&seconds).map(Any::from)
    }

    /// Returns the seconds per call of one repetition.
    fn repetition(&self, args: &[AnyView<'_>]) -> Result<f64> {
        let (mut number, mut without_time) = (self.number, 0);
        loop {
            let time = self.measure(number, args)?;
            without_time += i64::from(time.is_zero());
            if time >= self.least || without_time >= self.limit.max(1) {
                return Ok(time.as_secs_f64() / number as f64);
            }
            let calls = self.least.as_secs_f64() / (time.as_secs_f64() / number as f64);
            // At least by the golden ratio, which few repetitions exceed by much.
            let longer = (number as f64 * 1.618).max(calls).min(1e12);
            number = longer as i64 + 1;
        }
    }

    /// Returns the duration of several calls.
    fn measure(&self, number: i64, args: &[AnyView<'_>]) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..number {
            self.function.call_packed(args)?;
        }
        // SAFETY: null is the default stream of every device.
        unsafe { synchronize(self.device, core::ptr::null_mut())? };
        Ok(start.elapsed())
    }
}

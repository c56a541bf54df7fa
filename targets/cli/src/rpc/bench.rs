//! `ferrite rpc bench`: time of round trips, copies, and a function of a server.

use std::time::Instant;

use clap::Args;
use ferrite::device::DeviceTensor;
use ferrite::{Any, AnyView};
use ferrite_rpc::client::{EvaluatorOptions, Session};
use serde::Serialize;

use crate::call::{self, Argument, FORMS};
use crate::failure::{Failure, Outcome};
use crate::output;

use super::reach::{Reach, Reached};
use super::transfer::RemoteArguments;

/// Function whose calls do nothing.
const ECHO: &str = "testing.echo";

/// Shortest time of the calls of one result of a function.
const LEAST_MILLISECONDS: u32 = 20;

/// Measure a server: round trips, copies to and from it, and a function
///
/// The function runs on the server, whose time evaluator measures it without the network.
#[derive(Args)]
#[command(after_help = FORMS, override_usage = USAGE)]
pub struct Bench {
    #[command(flatten)]
    reach: Reach,
    /// Address of the server, unless there is a --tracker; function; its arguments
    #[arg(value_name = "ADDRESS|NAME|ARGUMENT", allow_negative_numbers = true)]
    words: Vec<String>,
    /// Number of round trips
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// Number of copies in each direction, and of results of the function
    #[arg(long, value_name = "N", default_value = "11", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Size of a copy in MiB
    #[arg(long, value_name = "MIB", default_value = "16", value_parser = clap::value_parser!(u32).range(1..=4096))]
    copy: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Forms of the command.
const USAGE: &str = "\
ferrite rpc bench [OPTIONS] ADDRESS [NAME [ARGUMENT]...]
       ferrite rpc bench [OPTIONS] --tracker ADDRESS --key KEY [NAME [ARGUMENT]...]";

/// Results of the command.
#[derive(Serialize)]
struct Report {
    server: String,
    round_trip: RoundTrip,
    copies: Copies,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<Measured>,
}

/// Time of a request that does nothing, with its answer.
#[derive(Serialize)]
struct RoundTrip {
    /// Kind of the request.
    request: &'static str,
    seconds: Spread,
}

/// Copies between main memory and the device.
#[derive(Serialize)]
struct Copies {
    bytes: u64,
    runs: usize,
    /// Median in MB/s, to the server.
    up: f64,
    /// Median in MB/s, from the server.
    down: f64,
}

/// Time of a function on the server.
#[derive(Serialize)]
struct Measured {
    name: String,
    /// Seconds per call.
    seconds: Spread,
}

/// Middle and upper end of times.
#[derive(Serialize)]
struct Spread {
    count: usize,
    median: f64,
    p90: f64,
}

/// Runs the command.
pub fn run(options: &Bench) -> Outcome<()> {
    let (address, words) = options.reach.split(&options.words)?;
    let arguments = call::parse(words.get(1..).unwrap_or_default(), None)?;
    let reached = options.reach.open(address)?;
    let report = Report {
        round_trip: round_trips(&reached.session, options.calls)?,
        copies: copies(&reached, options)?,
        function: words
            .first()
            .map(|name| measure(&reached, name, &arguments, options))
            .transpose()?,
        server: reached.address,
    };
    if options.json { output::print_json(&report) } else { output::print_report(&text(&report)) }
}

/// Measures calls of a function that returns its argument or, if the server does not offer it,
/// look-ups of a function.
fn round_trips(session: &Session, calls: u32) -> Outcome<RoundTrip> {
    let argument = Any::new(1);
    let echo = session.function(ECHO).ok();
    let request = || match &echo {
        Some(echo) => echo.call_packed(&[AnyView::from(&argument)]).map(drop),
        None => look_up(session),
    };
    request()?;
    let mut times = Vec::new();
    for _ in 0..calls {
        times.push(seconds_of(request)?);
    }
    let request = if echo.is_some() { "call" } else { "look-up" };
    Ok(RoundTrip { request, seconds: Spread::of(times) })
}

/// Looks up the function that the server does not offer.
fn look_up(session: &Session) -> ferrite::Result<()> {
    match session.function(ECHO) {
        Err(error) if error.kind_bytes() != b"AttributeError" => Err(error),
        _ => Ok(()),
    }
}

fn copies(reached: &Reached, options: &Bench) -> Outcome<Copies> {
    let mut content = vec![1u8; options.copy as usize * (1 << 20)];
    let there = DeviceTensor::from_slice(reached.device, &content, &[content.len() as i64])?;
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..options.runs {
        up.push(seconds_of(|| there.copy_from_slice(&content))?);
        down.push(seconds_of(|| there.read_into(&mut content))?);
    }
    let megabytes = content.len() as f64 / 1e6;
    let speed = |times: Vec<f64>| megabytes / Spread::of(times).median;
    Ok(Copies { bytes: content.len() as u64, runs: up.len(), up: speed(up), down: speed(down) })
}

/// Measures a function by the time evaluator of the server.
fn measure(
    reached: &Reached,
    name: &str,
    arguments: &[Argument],
    options: &Bench,
) -> Outcome<Measured> {
    // An error that names the function, before the time evaluator's.
    reached.function(name)?;
    let remote = RemoteArguments::new(arguments, reached.device)?;
    let settings = EvaluatorOptions {
        number: 1,
        repeat: options.runs,
        min_repeat_ms: LEAST_MILLISECONDS,
        ..EvaluatorOptions::default()
    };
    let evaluator =
        reached.session.time_evaluator(reached.module.as_ref(), name, reached.device, &settings)?;
    let times = evaluator.run(&remote.views())?.to_vec();
    if times.is_empty() || times.iter().any(|time| !time.is_finite()) {
        return Err(Failure::negative("the server's time evaluator returned no times"));
    }
    Ok(Measured { name: name.into(), seconds: Spread::of(times) })
}

fn seconds_of(body: impl FnOnce() -> ferrite::Result<()>) -> Outcome<f64> {
    let begin = Instant::now();
    body()?;
    Ok(begin.elapsed().as_secs_f64())
}

impl Spread {
    /// Sorts times, of which there is at least one.
    fn of(mut times: Vec<f64>) -> Spread {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
        let last = times.last().copied().unwrap_or(f64::NAN);
        Spread { count: times.len(), median: at(0.5).unwrap_or(last), p90: at(0.9).unwrap_or(last) }
    }
}

fn text(report: &Report) -> String {
    let RoundTrip { request, seconds } = &report.round_trip;
    let Copies { bytes, runs, up, down } = report.copies;
    let mut text = format!(
        "{}\n  round trip  {}, {} times a {request}\n  copies      up {up:.0} MB/s, down {down:.0} MB/s, \
         medians of {runs} times {} MiB\n",
        report.server,
        described(seconds),
        seconds.count,
        bytes >> 20
    );
    if let Some(Measured { name, seconds }) = &report.function {
        text += &format!("  {name:<10}  {}, {} results\n", described(seconds), seconds.count);
    }
    text
}

fn described(seconds: &Spread) -> String {
    format!("median {}, 90 % within {}", duration(seconds.median), duration(seconds.p90))
}

/// Returns seconds with a unit.
fn duration(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-3.. => format!("{:.2} ms", seconds * 1e3),
        1e-6.. => format!("{:.2} us", seconds * 1e6),
        _ => format!("{:.1} ns", seconds * 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_p90_the_ninth_of_ten() {
        let times: Vec<f64> = (0..100).rev().map(f64::from).collect();
        let spread = Spread::of(times);
        assert_eq!((spread.count, spread.median, spread.p90), (100, 50.0, 90.0));
        let one = Spread::of(vec![3.0]);
        assert_eq!((one.median, one.p90), (3.0, 3.0));
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let found = [2.5, 0.0025, 2.5e-6, 2.5e-8, 0.0].map(duration);
        assert_eq!(found, ["2.50 s", "2.50 ms", "2.50 us", "25.0 ns", "0.0 ns"]);
    }
}

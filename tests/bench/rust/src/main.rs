//! Runs one operation a hundred times, inside a function that callgrind counts:
//! `bench-rust NAME safe|by_hand`. Without arguments, prints the names.

mod calls;
mod conversions;
mod served;

use std::hint::black_box;
use std::process::ExitCode;

use ferrite::Result;

/// The repetitions of an operation. Must be the number that `run.py` divides by.
const REPETITIONS: usize = 100;

/// Pair of forms of one operation. Each makes its inputs, and returns a closure that is counted and
/// whose result is the same.
#[derive(Clone, Copy)]
struct Pair {
    name: &'static str,
    safe: fn() -> Result<Counted>,
    by_hand: fn() -> Result<Counted>,
}

type Counted = Box<dyn Fn() -> Result<i64>>;

/// Boxes a closure that is counted.
fn counted(body: impl Fn() -> Result<i64> + 'static) -> Result<Counted> {
    Ok(Box::new(body))
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn bench_measured(body: &Counted) -> i64 {
    (0..REPETITIONS).map(|_| black_box(body()).unwrap_or(i64::MIN)).fold(0, i64::wrapping_add)
}

fn main() -> ExitCode {
    let pairs = [&calls::PAIRS[..], &served::PAIRS, &conversions::PAIRS].concat();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, form] = &args[..] else {
        pairs.iter().for_each(|pair| println!("{}", pair.name));
        return ExitCode::SUCCESS;
    };
    let Some(pair) = pairs.iter().find(|pair| pair.name == name) else {
        eprintln!("error: no operation {name}");
        return ExitCode::FAILURE;
    };
    let make = if form == "safe" { pair.safe } else { pair.by_hand };
    match make() {
        Ok(body) => println!("result {}", bench_measured(&body)),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

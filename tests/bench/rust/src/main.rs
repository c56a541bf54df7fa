//! Runs one operation a hundred times, inside a function that callgrind counts:
//! `bench-rust NAME safe|by_hand`. Without arguments, prints the names.

mod calls;
mod conversions;
mod pair;
mod served;

use std::hint::black_box;
use std::process::ExitCode;

use pair::Counted;

/// The repetitions of an operation. Must be the number that `run.py` divides by.
const REPETITIONS: usize = 100;

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

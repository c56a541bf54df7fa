//! A program beside a `libtvm_ffi`: it calls the functions of that library, and registers one that
//! other clients of it find.
//!
//! `cargo run --example beside`; the README says which library is linked.

use ferrite::{Array, Function, Result, call};

fn main() -> Result<()> {
    Function::register("example.sum", |numbers: Vec<f64>| numbers.iter().sum::<f64>())?;
    let numbers: Array<f64> = [1.5, 2.5].try_into()?;
    let sum: f64 = call!("example.sum", &numbers)?;
    let count: i64 = call!("ffi.ArraySize", &numbers)?;
    println!("{count} numbers, the sum is {sum}");
    Ok(())
}

//! Kernels over containers, for any process with a `libtvm_ffi`.

use ferrite::containers::{Array, Dict, Map};
use ferrite::{Result, String, export_function};

/// Returns the sum of each array.
fn totals(values: Map<String, Array<i64>>) -> Result<Dict<String, i64>> {
    let sums = Dict::new()?;
    for entry in &values {
        let (name, numbers) = entry?;
        sums.insert(name, numbers.iter().sum::<Result<i64>>()?)?;
    }
    Ok(sums)
}

/// Returns the sum of the products of two vectors.
#[ferrite::export]
fn dot(x: Vec<f64>, y: Vec<f64>) -> f64 {
    x.iter().zip(&y).map(|(x, y)| x * y).sum()
}

export_function!(totals, totals, "Returns the sum of each array.");

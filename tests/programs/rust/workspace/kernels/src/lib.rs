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

export_function!(totals, totals, "Returns the sum of each array.");

//! Loads the kernels of the workspace, and calls them.

use ferrite::{Array, Dict, Map, Module, Result, String};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let kernels = Module::load(path)?;
    let mut values: Map<String, Array<i64>> = Map::new()?;
    values.insert(String::new("a")?, Array::from_slice(&[1, 2, 3])?)?;
    values.insert(String::new("b")?, Array::new()?)?;
    let totals: Dict<String, i64> =
        kernels.get("totals")?.call_packed(&[(&values).into()])?.get()?;
    for name in ["a", "b"] {
        println!("{name} {:?}", totals.get(&String::new(name)?)?);
    }
    Ok(())
}

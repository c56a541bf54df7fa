//! Types of other crates: arrays of `ndarray` with elements of `half` as tensors, and data
//! structures of `serde` as Maps.
//!
//! `cargo run --example crates --features half,bytes,ndarray,serde`

use ferrite::serde::{from_value, to_value};
use ferrite::{Function, Result, Tensor, call};
use half::f16;
use ndarray::{Array2, ArrayView2, Ix2, array};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Debug)]
struct Scale {
    by: f32,
    note: Option<String>,
}

fn scale(x: ArrayView2<'_, f16>, options: ferrite::Any) -> Result<Array2<f16>> {
    let Scale { by, note } = from_value(&options)?;
    println!("scale by {by}: {}", note.unwrap_or_default());
    Ok(x.mapv(|value| value * f16::from_f32(by)))
}

fn main() -> Result<()> {
    Function::register("example.scale", scale)?;
    let x = array![[f16::from_f32(0.5), f16::ONE], [f16::ONE, f16::from_f32(2.0)]];
    let options = to_value(&Scale { by: 3.0, note: Some("in half precision".into()) })?;
    println!("{options:?}");
    let scaled: Tensor = call!("example.scale", x, &options)?;
    println!("{}", scaled.as_ndarray::<f16, Ix2>()?);
    Ok(())
}

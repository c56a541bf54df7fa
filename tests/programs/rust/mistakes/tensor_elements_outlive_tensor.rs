//! Elements that outlive their tensor.

use ferrite::{Result, Tensor};

fn main() -> Result<()> {
    let elements = Tensor::from_slice(&[1.0f32, 2.0], &[2])?.as_slice::<f32>()?; //~ temporary value dropped while borrowed
    println!("{elements:?}");
    Ok(())
}

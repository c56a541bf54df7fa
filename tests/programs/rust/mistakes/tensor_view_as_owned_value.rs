//! A view as an owned value, which would outlive the tensor.

use ferrite::{Any, Result, Tensor, TensorView};

fn main() -> Result<()> {
    let tensor = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    let value = Any::from(TensorView::from(&tensor)); //~ the trait bound `ferrite::Any: From<TensorView<'_>>` is not satisfied
    drop(tensor);
    println!("{:?}", value.get::<TensorView<'_>>()?.as_slice::<f32>()?);
    Ok(())
}

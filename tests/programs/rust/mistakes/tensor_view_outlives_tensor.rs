//! A view that outlives its tensor.

use ferrite::{Result, Tensor, TensorView};

fn main() -> Result<()> {
    let tensor = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    let view = TensorView::from(&tensor);
    drop(tensor); //~ cannot move out of `tensor` because it is borrowed
    println!("{:?}", view.as_tensor_ref().shape());
    Ok(())
}

//! A view of an address without a tensor.

use core::ptr::NonNull;
use ferrite::{Result, TensorView};

fn main() -> Result<()> {
    let view = TensorView::new(NonNull::dangling()); //~ call to unsafe function
    println!("{:?}", view.as_slice::<f32>()?);
    Ok(())
}

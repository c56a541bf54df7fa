//! A function that keeps the elements of an argument after its call.

use ferrite::tensor::Input;
use ferrite::{Function, Result, Tensor};
use std::sync::Mutex;

static KEPT: Mutex<&[f32]> = Mutex::new(&[]);

fn keep(x: Input<'_>) -> Result<()> {
    *KEPT.lock().unwrap() = x.elements(&[2])?; //~ borrowed data escapes outside of function
    Ok(())
}

fn main() -> Result<()> {
    Function::from_typed(keep)?.call::<()>((&Tensor::from_slice(&[1.0f32, 2.0], &[2])?,))
}

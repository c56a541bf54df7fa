//! A whole model that TVM's Relax compiler exported, with inputs of zeros.
//!
//! `cargo run --example model --features relax MODEL.so`

use ferrite::relax::model::Model;
use ferrite::{AnyView, Result, Tensor, error};

fn main() -> Result<()> {
    let path =
        std::env::args().nth(1).ok_or_else(|| error!(ValueError, "usage: model MODEL.so"))?;
    let model = Model::load(&path)?;
    let x = Tensor::from_slice(&[0f32; 64], &[1, 1, 8, 8])?;
    let scores: Tensor = model.call_packed("main", &[AnyView::from(&x)])?.get()?;
    let best = scores.as_slice::<f32>()?.iter().copied().fold(f32::MIN, f32::max);
    println!("{:?}, the best is {best:.2}", scores.shape());
    Ok(())
}

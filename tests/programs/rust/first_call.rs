use ferrite::{Module, Result, Tensor};

fn main() -> Result<()> {
    let kernels = Module::load(std::env::args().nth(1).unwrap_or_default())?;
    let dot = kernels.get("rust_dot")?;
    let (x, y) = (Tensor::from_slice(&[1.0f32, 2.0], &[2])?, Tensor::from_slice(&[3.0f32, 4.0], &[2])?);
    let product: f64 = dot.call((&x, &y))?;
    println!("{product}");
    if let Err(error) = dot.call::<f64>((1, &y)) {
        println!("{error}");
    }
    Ok(())
}

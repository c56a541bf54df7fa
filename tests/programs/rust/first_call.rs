use ferrite::{Module, Result, Tensor};

fn main() -> Result<()> {
    let kernels = Module::load(std::env::args().nth(1).unwrap_or_default())?;
    let dot = kernels.get("rust_dot")?;
    let (x, y) = (Tensor::from_slice(&[1.0f32, 2.0], &[2])?, Tensor::from_slice(&[3.0f32, 4.0], &[2])?);
    println!("{}", dot.call_packed(&[(&x).into(), (&y).into()])?.get::<f64>()?);
    if let Err(error) = dot.call_packed(&[1i64.into(), (&y).into()]) {
        println!("{error}");
    }
    Ok(())
}

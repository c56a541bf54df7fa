//! Classifies a picture with a network that TVM compiled: names and types of the inputs, weights
//! from a file, time per operator, and a model for each thread.
//!
//!     cargo run --release -p ferrite-ffi-relax --example digits
#![forbid(unsafe_code)]

use ferrite::relax::model::{Inputs, Model, Parameters};
use ferrite::{Result, Tensor};

const FOLDER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/relax/models/mlp_i8");

/// A one, 8 by 8 pixels.
const PICTURE: [&[u8; 8]; 8] = [
    b"   ##   ",
    b"  ###   ",
    b" ####   ",
    b"   ##   ",
    b"   ##   ",
    b"   ##   ",
    b"   ##   ",
    b"  ####  ",
];

fn picture() -> Result<Tensor> {
    let pixels = PICTURE
        .iter()
        .flat_map(|row| row.iter())
        .map(|pixel| if *pixel == b'#' { 127i8 } else { 0 });
    Tensor::from_slice(&pixels.collect::<Vec<_>>(), &[1, 64])
}

/// Returns the position of the largest score.
fn digit(scores: &Tensor) -> Result<usize> {
    let scores = scores.as_slice::<i32>()?;
    Ok(scores.iter().enumerate().max_by_key(|(_, score)| **score).map_or(0, |(digit, _)| digit))
}

fn main() -> Result<()> {
    let model = Model::load(format!("{FOLDER}/bytecode.so"))?;
    let main = model.function("main")?;
    for input in main.inputs() {
        let tensor = input.tensor_type();
        let bits = tensor.dtype().map_or(0, |dtype| dtype.bits);
        println!(
            "input {:<2}  int{bits:<2}  {:?}",
            input.name(),
            tensor.shape().flatten().collect::<Vec<_>>()
        );
    }

    // The weights are in a file of their own, which TVM's save_param_dict wrote.
    let mut inputs = Inputs::new(&main)?;
    inputs.set_parameters(&Parameters::load(format!("{FOLDER}/params.bin"))?)?;
    inputs.set("x", picture()?)?;
    println!("digit {}", digit(&inputs.call()?.get()?)?);

    let ((), profile) = model.profile(|| (0..1000).try_for_each(|_| inputs.call().map(drop)))?;
    print!("{profile}");
    println!("{} bytes at most for tensors", model.memory()?.peak);

    // A model serves one thread at a time: each thread gets its own, over the same weights and
    // kernels.
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let model = model.duplicate()?;
            Ok(std::thread::spawn(move || {
                let mut inputs = Inputs::new(&model.function("main")?)?;
                inputs.set_parameters(&Parameters::load(format!("{FOLDER}/params.bin"))?)?;
                inputs.set("x", picture()?)?;
                digit(&inputs.call()?.get()?)
            }))
        })
        .collect::<Result<_>>()?;
    for thread in threads {
        match thread.join() {
            Ok(digit) => println!("a thread says {}", digit?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(())
}

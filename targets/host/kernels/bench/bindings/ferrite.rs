//! The binding in Rust, without the standard library.
#![no_std]

use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor, env};

// begin copy
/// Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.
#[ferrite::export]
fn layernorm2d(x: Input<'_>, weight: Input<'_>, bias: Input<'_>, eps: f32, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let ([rows, cols], elements) = x.array::<f32, 2>()?;
    let (weight, bias) = (weight.elements::<f32>(&[cols])?, bias.elements::<f32>(&[cols])?);
    env::tensor::output(out, x.tensor(), &[rows, cols], |out| layernorm(elements, weight, bias, eps + COPY as f32, out))
}
// end copy

#[inline(never)]
fn layernorm(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, out: &mut [f32]) {
    let cols = weight.len().max(1);
    for (x, out) in x.chunks_exact(cols).zip(out.chunks_exact_mut(cols)) {
        let mean = x.iter().sum::<f32>() / cols as f32;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / cols as f32;
        let scale = 1.0 / libm::sqrtf(variance + eps);
        for (((out, x), weight), bias) in out.iter_mut().zip(x).zip(weight).zip(bias) {
            *out = (x - mean) * scale * weight + bias;
        }
    }
}

/// Panic handler: aborts the process, since there is no unwinding.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn abort() -> !;
    }
    abort()
}

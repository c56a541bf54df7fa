//! Example kernels in `no_std` Rust, which the quick start's C program loads.
#![no_std]

use ferrite::tensor::{Input, Output};
use ferrite::{Result, export_function};

/// Computes y = x + 1, element by element.
fn add_one(x: Input<'_>, mut y: Output<'_>) -> Result<()> {
    let ([len], x) = x.array::<f32, 1>()?;
    for (y, x) in y.elements_mut(&[len])?.iter_mut().zip(x) {
        *y = x + 1.0;
    }
    Ok(())
}

/// Returns the dot product of two vectors.
fn dot(x: Input<'_>, y: Input<'_>) -> Result<f64> {
    let ([len], x) = x.array::<f32, 1>()?;
    let y = y.elements::<f32>(&[len])?;
    Ok(x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum())
}

export_function!(
    rust_add_one,
    add_one,
    "Writes x + 1 to y, element by element. Both are float32 vectors."
);
export_function!(rust_dot, dot, "Returns the dot product of two float32 vectors.");

/// Panic handler: aborts the process, since there is no unwinding.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn abort() -> !;
    }
    abort()
}

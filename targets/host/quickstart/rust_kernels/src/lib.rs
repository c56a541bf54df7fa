//! Example kernels in `no_std` Rust, which the quick start's C program loads.
#![no_std]

use ferrite::{Result, TensorView, ensure, export_function};

/// Computes y = x + 1, element by element.
fn add_one(x: TensorView, y: TensorView) -> Result<()> {
    // SAFETY: the caller keeps both tensors alive until this function returns, and permits writing y.
    let (x, y) = unsafe { (x.as_tensor_ref().as_slice::<f32>()?, y.as_tensor_ref().as_mut_slice::<f32>()?) };
    ensure!(x.len() == y.len(), ValueError, "x has {} elements, y has {}", x.len(), y.len());
    for (y, x) in y.iter_mut().zip(x) {
        *y = x + 1.0;
    }
    Ok(())
}

/// Returns the dot product of two vectors.
fn dot(x: TensorView, y: TensorView) -> Result<f64> {
    // SAFETY: the caller keeps both tensors alive until this function returns.
    let (x, y) = unsafe { (x.as_tensor_ref().as_slice::<f32>()?, y.as_tensor_ref().as_slice::<f32>()?) };
    ensure!(x.len() == y.len(), ValueError, "x has {} elements, y has {}", x.len(), y.len());
    Ok(x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum())
}

export_function!(rust_add_one, add_one, "Writes x + 1 to y, element by element. Both are float32 vectors.");
export_function!(rust_dot, dot, "Returns the dot product of two float32 vectors.");

/// Panic handler: aborts the process, since there is no unwinding.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn abort() -> !;
    }
    abort()
}

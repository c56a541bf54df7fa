//! Tests the errors of ROCm without the driver library or without a device. A program of its own, since the others open the
//! stand-in.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

#[path = "support/rocm.rs"]
mod rocm_support;

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_core::error::Result;
use ferrite_gpu::rocm::Rocm;

use rocm_support::stand_in::Library;
use rocm_support::*;

#[test]
fn a_driver_that_cannot_be_used_is_an_error_of_the_call_that_needs_it() -> Result<()> {
    if open_real().is_some() {
        println!("not run: this machine has an AMD GPU");
        return Ok(());
    }
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    // Loading a module needs no driver.
    let kernel = kernel("add_one_kernel")?;
    assert_eq!(Rocm.attribute(0, Attribute::Exists)?.get::<i64>()?, 0);
    let (kind, start) = match NAMES.iter().find_map(|name| Library::open(name)) {
        Some(_) => ("InternalError", "ROCM HIP Error: hipGetDeviceCount failed with error: "),
        None => (
            "RuntimeError",
            "The driver is not installed: looked for libamdhip64.so.7, libamdhip64.so.6, libamdhip64.so.5, \
             libamdhip64.so (",
        ),
    };
    for _ in 0..2 {
        let texts = [
            refused(Rocm.set_device(0), kind),
            refused(device::empty(&[1], F32, HERE), kind),
            refused(device::empty(&[1], F32, PINNED), kind),
            refused(Rocm.allocate_workspace(0, 8), kind),
            refused(kernel.call_packed(&[1i64.into(), 1i64.into(), 1i64.into(), 1i64.into()]), kind),
            refused(global("runtime.get_rocm_stream")?.call_packed(&[]), kind),
        ];
        for text in texts {
            assert!(text.starts_with(start), "{text}");
        }
    }
    println!("as it should be: {}", refused(Rocm.set_device(0), kind));
    Ok(())
}

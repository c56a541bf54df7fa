//! Tests kinds without a driver library or without a device: modules are loaded, and calls that
//! need the driver say what is missing.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]
#![cfg(any(feature = "cuda", feature = "rocm"))]

mod support;

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, Bytes};
use ferrite_gpu::driver::Driver;
use ferrite_gpu::module::DeviceModule;
use support::calls::*;

/// Checks that every call of a kind which needs a driver fails with this text, also the second
/// time.
fn refuses<K: Driver + Backend>(
    backend: &K,
    fixture: &[u8],
    pinned: i32,
    kind: &str,
    start: &str,
) -> Result<()> {
    // Loading a module needs no driver.
    let module: Module = DeviceModule::<K>::load(Bytes::new(fixture)?)?;
    let kernel = function(&module, "add_one_kernel")?;
    assert_eq!(backend.attribute(0, Attribute::Exists)?.get::<i64>()?, 0);
    let on = |device_type| device::empty(&[1], F32, DLDevice { device_type, device_id: 0 });
    let pointer = Any::from(OpaquePtr::NULL);
    let set = [i64::from(K::DEVICE_TYPE).into(), 0i64.into()];
    for _ in 0..2 {
        let texts = [
            refused(backend.set_device(0), kind),
            refused(backend.allocate(0, 8, 64), kind),
            refused(on(K::DEVICE_TYPE), kind),
            refused(on(pinned), kind),
            refused(backend.allocate_workspace(0, 8), kind),
            refused(backend.attribute(0, Attribute::WarpSize), kind),
            refused(
                kernel.call_packed(&[pointer.view(), pointer.view(), 1i64.into(), 64i64.into()]),
                kind,
            ),
            refused(global("__tvm_set_device")?.call_packed(&set), kind),
        ];
        for text in texts {
            assert!(text.starts_with(start), "{text}");
        }
    }
    println!("as it should be: {}", refused(backend.set_device(0), kind));
    Ok(())
}

fn install() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
}

#[cfg(feature = "cuda")]
#[test]
fn a_missing_driver_is_an_error_of_what_needs_it() -> Result<()> {
    use ferrite_gpu::cuda::Cuda;
    install();
    if Cuda.attribute(0, Attribute::Exists)?.get::<i64>()? == 1 {
        println!("not run: this machine has a CUDA device");
        return Ok(());
    }
    let start = "The driver is not installed: looked for libcuda.so.1 (";
    refuses(&Cuda, support::cuda::PTX_MODULE, 3, "RuntimeError", start)
}

#[cfg(feature = "rocm")]
#[test]
fn a_driver_that_cannot_be_used_is_an_error_of_the_call_that_needs_it() -> Result<()> {
    use support::rocm::{FIXTURE, NAMES, open_real};
    use support::stand_in::Library;
    install();
    if open_real().is_some() {
        println!("not run: this machine has an AMD GPU");
        return Ok(());
    }
    let (kind, start) = match NAMES.iter().find_map(|name| Library::open(name)) {
        Some(_) => ("InternalError", "ROCM HIP Error: hipGetDeviceCount failed with error: "),
        None => (
            "RuntimeError",
            "The driver is not installed: looked for libamdhip64.so.7, libamdhip64.so.6, libamdhip64.so.5, \
             libamdhip64.so (",
        ),
    };
    refused(global("runtime.get_rocm_stream")?.call_packed(&[]), kind);
    refuses(&ferrite_gpu::rocm::Rocm, FIXTURE, 11, kind, start)
}

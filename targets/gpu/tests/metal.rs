//! Tests Metal on systems without it: modules can be loaded and saved, and every use of a device
//! reports that there is none.
#![cfg(not(target_vendor = "apple"))]
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{self, Attribute, Backend, Region};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, String};
use ferrite_gpu::metal::Metal;
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::Writer;

const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/payloads/metal.bin");
const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 8, device_id: 0 };

fn refused<T>(result: Result<T>, kind: &str) -> std::string::String {
    let error = result.map(drop).expect_err("an error");
    let text = std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
    assert_eq!(std::str::from_utf8(error.kind_bytes()), Ok(kind), "{text}");
    text
}

fn load(bytes: &[u8]) -> Result<Module> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let loader = Function::find_global("ffi.Module.load_from_bytes.metal")?.expect("a loader");
    loader.call_packed(&[(&Bytes::new(bytes)?).into()])?.get()
}

#[test]
fn modules_are_loaded_and_saved() -> Result<()> {
    let module = load(FIXTURE)?;
    assert_eq!((module.kind()?, module.property_mask()?), (c"metal", 3));
    assert_eq!(module.save_to_bytes()?.as_bytes(), FIXTURE);
    assert!(module.inspect_source(&String::new("metal")?)?.as_bytes().is_empty());
    assert!(module.implements_function(&String::new("softmax_kernel")?, false)?);
    for len in 0..FIXTURE.len() {
        refused(DeviceModule::<Metal>::load(Bytes::new(&FIXTURE[..len])?), "InternalError");
    }
    assert!(Function::find_global("ffi.Module.create.metal")?.is_some());
    Ok(())
}

/// Returns the payload of a module with one kernel with this many buffers.
fn payload_of(format: &str, code: &[u8], buffers: usize) -> Result<Bytes> {
    let mut payload = Writer::new();
    payload.text(format.as_bytes())?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(buffers)?;
    (0..buffers).try_for_each(|_| payload.dtype(HANDLE))?;
    payload.count(0)?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.text(code)?;
    payload.finish()
}

#[test]
fn modules_that_no_device_takes_are_refused_when_they_are_loaded() -> Result<()> {
    let refused = |format: &str, code: &[u8], buffers| -> Result<std::string::String> {
        Ok(refused(load(payload_of(format, code, buffers)?.as_bytes()), "InternalError"))
    };
    load(payload_of("metal", b"kernel void k() {}", 31)?.as_bytes())?;
    load(payload_of("metallib", b"MTLB", 0)?.as_bytes())?;
    assert_eq!(refused("air", b"", 0)?, "Unknown Metal format air");
    assert_eq!(
        refused("metallib", b"kernel", 0)?,
        "The code of the Metal kernel k is not a metallib"
    );
    assert_eq!(
        refused("metal", b"\xff", 0)?,
        "The source of the Metal kernel k is not valid UTF-8 at offset 0"
    );
    assert_eq!(refused("metal", b"", 32)?, "The Metal kernel k has 32 buffers, more than 31");
    Ok(())
}

#[test]
fn every_use_of_a_device_says_that_there_is_none() -> Result<()> {
    let module = load(FIXTURE)?;
    let kernel = module.get_function(&String::new("add_one_kernel")?, false)?.expect("a kernel");
    let (null, event) = (ptr::null_mut(), NonNull::<c_void>::dangling());
    let region = Region { device: HERE, data: null, offset: 0 };
    let f32 = DLDataType { code: 2, bits: 32, lanes: 1 };
    assert_eq!(Metal.attribute(0, Attribute::Exists)?.get::<i64>()?, 0);
    // SAFETY: no device exists that could access a pointer.
    let results = unsafe {
        [
            Metal.set_device(0),
            device::empty(&[1], f32, HERE).map(drop),
            device::copy(region, region, 4, null),
            Metal.synchronize(0, null),
            Metal.attribute(0, Attribute::DeviceName).map(drop),
            Metal.create_stream(0).map(drop),
            Metal.free_stream(0, null),
            Metal.order_streams(0, null, null),
            Metal.set_stream(0, null),
            Metal.create_event(0, false).map(drop),
            Metal.record_event(0, event, null),
            Metal.wait_for_event(0, event, null),
            Metal.synchronize_event(0, event),
            alloc_workspace(8, 0, 8).map(drop),
            free_workspace(8, 0, event),
            kernel
                .call_packed(&[
                    ferrite_core::AnyView::NONE,
                    ferrite_core::AnyView::NONE,
                    1i64.into(),
                    1i64.into(),
                ])
                .map(drop),
        ]
    };
    for result in results {
        let text = refused(result, "RuntimeError");
        assert_eq!(text, "Metal is Apple's: there are no devices of it on this system");
    }
    Ok(())
}

//! Tests ROCm with a failing driver: for every call, the error names the call, and nothing leaks. The tests always use the
//! stand-in, since a real driver does not fail on request.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

#[path = "support/rocm.rs"]
mod rocm_support;

use core::ffi::c_void;
use core::ptr;

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_gpu::rocm::Rocm;

use rocm_support::stand_in::{Live, StandIn};
use rocm_support::*;

/// Calls whose failures are ignored: they release a resource, or restore the current device.
const IGNORED: [&str; 7] = [
    "hipFree",
    "hipHostFree",
    "hipModuleUnload",
    "hipEventDestroy",
    "hipDeviceSynchronize",
    "hipSetDevice",
    "hipGetDevice",
];

/// A stream that is destroyed when dropped, unless the driver has destroyed it and still reported a failure.
struct Stream(StandIn, *mut c_void);

impl Stream {
    fn free(&self) -> Result<()> {
        set_stream(ptr::null_mut());
        // SAFETY: the stream is owned.
        unsafe { Rocm.free_stream(0, self.1) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.0.failed().as_deref() != Some("hipStreamDestroy") {
            assert!(self.free().is_ok() || self.free().is_ok(), "one call fails");
        }
    }
}

/// Uses every function of the back end.
fn scenario(stand_in: StandIn) -> Result<()> {
    Rocm.set_device(0)?;
    for attribute in 0..17 {
        Rocm.attribute(0, Attribute::from_number(attribute).expect("an attribute"))?;
    }
    let stream = Stream(stand_in, Rocm.create_stream(0)?);
    set_stream(stream.1);
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let there = on(SECOND, &[0.0; 64])?;
    let pinned = device::empty(&[64], F32, PINNED)?;
    let event = Event(Rocm.create_event(0, true)?);
    // Nothing returns between the allocation and the release.
    let workspace = alloc_workspace(10, 0, 100)?;
    let kernel = kernel("add_one_kernel");
    let used = kernel.and_then(|kernel| {
        // SAFETY: this function owns the stream and events.
        unsafe { Rocm.record_event(0, event.0, stream.1)? };
        add_one(&kernel, &x, &y, 1)?;
        copy(&y, &pinned)?;
        copy(&y, &there)?;
        // SAFETY: as above.
        unsafe {
            Rocm.wait_for_event(0, event.0, ptr::null_mut())?;
            Rocm.synchronize_event(0, event.0)?;
            Rocm.elapsed(0, event.0, event.0)?;
            Rocm.order_streams(0, stream.1, ptr::null_mut())?;
            Rocm.synchronize(0, stream.1)?;
        }
        Rocm.set_device(1)?;
        add_one(&kernel, &there, &there, 1)?;
        wait_on(SECOND)?;
        Ok(())
    });
    // SAFETY: the workspace is freed once.
    unsafe { free_workspace(10, 0, workspace)? };
    used?;
    assert_eq!(values_of(&y)?, [2.0; 64]);
    assert_eq!(values_of(&pinned)?, [2.0; 64]);
    assert_eq!(values_of(&there)?, [3.0; 64]);
    stream.free()?;
    core::mem::forget(stream);
    Ok(())
}

struct Event(ptr::NonNull<c_void>);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is owned.
        unsafe { Rocm.free_event(0, self.0) };
    }
}

/// Checks the kind of the error, and that it names the failing call.
fn check(error: &Error, call: &str, code: i32) {
    let expected = match (call, code) {
        ("hipModuleGetFunction", _) => "ROCMError",
        ("hipModuleLaunchKernel", _) => "InternalError",
        (_, 2) => "MemoryError",
        _ => "InternalError",
    };
    let text = message(error);
    assert_eq!(String::from_utf8_lossy(error.kind_bytes()), expected, "{call}: {text}");
    let tells_bytes = (call, code) == ("hipMalloc", 2) && text.starts_with("The ROCm device ");
    assert!(text.contains(call) || tells_bytes, "{call}: {text}");
}

/// Runs the scenario with each call failing in turn. Returns the number of failures.
fn fail_each(stand_in: StandIn, code: i32) -> u64 {
    for call in 1.. {
        stand_in.fail(call, code);
        let result = scenario(stand_in);
        let failed = stand_in.failed();
        stand_in.fail(0, 0);
        assert_eq!(stand_in.complaint(), None, "call {call}, {failed:?}");
        assert_eq!(stand_in.live(), Live::default(), "call {call}, {failed:?}");
        match (&result, failed.as_deref()) {
            (Ok(()), None) => return call - 1,
            (Ok(()), Some(name)) => assert!(IGNORED.contains(&name), "{name} fails, and nobody is told"),
            (Err(error), Some(name)) => check(error, name, code),
            (Err(error), None) => panic!("call {call}: {}", message(error)),
        }
    }
    0
}

#[test]
fn every_call_of_the_driver_may_fail() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let stand_in = open_stand_in(0);
    let text = refused(Rocm.set_device(0), "InternalError");
    assert_eq!(
        text,
        "ROCM HIP Error: hipGetDeviceCount failed with error: no ROCm-capable device is detected"
    );
    stand_in.reset(2);
    let first = fail_each(stand_in, 999);
    // From here on, the driver is open.
    let counts = [fail_each(stand_in, 999), fail_each(stand_in, 2)];
    assert!(
        first >= counts[0] && counts.iter().all(|count| *count == counts[0] && *count > 60),
        "{counts:?}"
    );
    println!("{} calls failed, one after the other, with two codes", counts[0]);
}

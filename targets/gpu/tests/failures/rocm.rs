//! The scenario of ROCm.

use core::ffi::c_void;
use core::ptr;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Device, Graph};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_gpu::rocm::Rocm;

use crate::support::rocm::*;
use crate::support::stand_in::StandIn;
use crate::{Kind, OUT_OF_MEMORY};

pub const KIND: Kind = Kind {
    name: "ROCm",
    open,
    scenario,
    releases: &RELEASES,
    describes,
    keeps_module: "",
    least: (100, 10),
};

/// Calls whose failures are ignored: they release a resource, or restore the current device;
/// streams that cannot be ordered, where the device is waited for; allocations, which are tried
/// again.
const RELEASES: [&str; 18] = [
    "hipGraphDestroy",
    "hipGraphExecDestroy",
    "hipFree",
    "hipFreeAsync",
    "hipMemPoolTrimTo",
    "hipMallocFromPoolAsync",
    "hipMalloc",
    "hipStreamIsCapturing",
    "hipEventCreateWithFlags",
    "hipEventRecord",
    "hipStreamWaitEvent",
    "hipHostFree",
    "hipModuleUnload",
    "hipEventDestroy",
    "hipStreamDestroy",
    "hipDeviceSynchronize",
    "hipSetDevice",
    "hipGetDevice",
];

/// Opens the stand-in, which always takes the place of a driver here, and has no devices at first.
fn open() -> Option<StandIn> {
    let stand_in = open_stand_in(0);
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    // In a child, so that the driver is opened anew by each attempt.
    let refused = crate::in_child(|| {
        let text = refused(Rocm.set_device(0), "InternalError");
        let expected = "ROCM HIP Error: hipGetDeviceCount failed with error: no ROCm-capable device is detected";
        i32::from(text != expected)
    });
    assert_eq!(refused, 0, "a driver without devices");
    stand_in.reset(2);
    Some(stand_in)
}

/// Returns whether an error has the kind of its call and code, and names the call.
fn describes(error: &Error, call: &str, code: i32) -> bool {
    let expected = match (call, code) {
        ("hipModuleGetFunction", _) => "ROCMError",
        ("hipModuleLaunchKernel", _) => "InternalError",
        (_, OUT_OF_MEMORY) => "MemoryError",
        _ => "InternalError",
    };
    let text = message(error);
    let tells_bytes = matches!(call, "hipMalloc" | "hipMallocFromPoolAsync")
        && code == OUT_OF_MEMORY
        && text.starts_with("The ROCm device ");
    error.kind_bytes() == expected.as_bytes() && (text.contains(call) || tells_bytes)
}

/// A stream that is destroyed when dropped, unless the driver has destroyed it and still reported a
/// failure.
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
        // SAFETY: the tensors outlive the commands: the stream is synchronised.
        unsafe { Graph::record(Device::from(HERE), || add_one(&kernel, &x, &y, 1))?.1?.launch()? };
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

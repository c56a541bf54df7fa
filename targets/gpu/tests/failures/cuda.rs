//! The scenario of CUDA.

use core::ffi::c_void;
use core::ptr;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Device, Graph};
use ferrite_alloc_ext::env::stream;
use ferrite_core::abi::DLDevice;
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Function, String, Tensor};
use ferrite_gpu::cuda::Cuda;

use crate::support::cuda::*;
use crate::support::stand_in::StandIn;
use crate::{Kind, OUT_OF_MEMORY};

pub const KIND: Kind = Kind {
    name: "CUDA",
    open: || {
        let driver = Driver::open();
        driver.is_stand_in.then(|| *driver)
    },
    scenario,
    releases: &RELEASES,
    describes,
    keeps_module: "cuCtxSetCurrent",
    least: (100, 10),
};

const SECOND: DLDevice = DLDevice { device_id: 1, ..HERE };

/// Calls that release a resource or restore the caller's context, whose errors are ignored; streams
/// that cannot be ordered, where the device is waited for; allocations, which are tried again.
const RELEASES: [&str; 18] = [
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "cuMemPoolTrimTo",
    "cuStreamIsCapturing",
    "cuEventCreate",
    "cuEventRecord",
    "cuStreamWaitEvent",
    "cuMemAllocFromPoolAsync",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuModuleUnload",
    "cuEventDestroy_v2",
    "cuStreamDestroy_v2",
    "cuCtxSynchronize",
    "cuCtxSetCurrent",
    "cuCtxGetCurrent",
];

/// Calls that fail for lack of memory.
const ALLOCATIONS: [&str; 4] =
    ["cuMemAlloc_v2", "cuMemAllocHost_v2", "cuModuleLoadDataEx", "cuStreamCreate"];

fn describes(error: &Error, call: &str, code: i32) -> bool {
    let is_memory = code == OUT_OF_MEMORY;
    let code = if is_memory { "CUDA_ERROR_OUT_OF_MEMORY" } else { "CUDA_ERROR_UNKNOWN" };
    let is_wanted_kind =
        !(is_memory && ALLOCATIONS.contains(&call)) || error.kind_bytes() == b"MemoryError";
    message(error).contains(code) && is_wanted_kind
}

/// A stream that is destroyed when dropped.
struct Stream(*mut c_void);

impl Stream {
    fn new() -> Result<Stream> {
        Ok(Stream(Cuda.create_stream(0)?))
    }

    fn free(mut self) -> Result<()> {
        // SAFETY: the stream is owned; the driver destroys it even if it reports an error.
        let freed = unsafe { Cuda.free_stream(0, self.0) };
        let is_gone = freed
            .as_ref()
            .map_or_else(|error| message(error).contains("cuStreamDestroy"), |()| true);
        if is_gone {
            self.0 = null();
        }
        freed
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: as in `free`.
        let _ = unsafe { Cuda.free_stream(0, self.0) };
    }
}

#[repr(C, align(64))]
struct TensorMap([u64; 16]);

fn work_on_streams() -> Result<()> {
    let stream = Stream::new()?;
    // SAFETY: both streams belong to the device.
    unsafe { Cuda.order_streams(0, null(), stream.0)? };
    // SAFETY: the stream is alive while it is set.
    let previous = unsafe { stream::set(stream::DeviceKey::new(2, 0), stream.0)? };
    let worked = (|| {
        let workspace = alloc_workspace(2, 0, 5000)?;
        // SAFETY: the workspace is freed once.
        unsafe { free_workspace(2, 0, workspace) }
    })();
    // SAFETY: it was set before.
    unsafe { stream::set(stream::DeviceKey::new(2, 0), previous)? };
    worked?;
    stream.free()
}

fn launch_with_attributes() -> Result<()> {
    let shared = load(PTX_MODULE)?;
    let (x, y) = (on_device(&[1.0; 256])?, on_device(&[0.0; 256])?);
    let size = AnyView::from(60_000i64);
    let kernel = function(&shared, "reverse_dynshared_kernel")?;
    kernel.call_packed(&[(&x).into(), (&y).into(), 4i64.into(), 64i64.into(), size])?;
    let tags = ["blockIdx.x", "threadIdx.x", "clusterCtaIdx.x"];
    let start = PTX_MODULE.windows(3).position(|bytes| bytes == b"//\n").expect("PTX");
    let clusters = payload_of("ptx", &PTX_MODULE[start..], "add_one_kernel", &[HANDLE; 2], &tags)?;
    let kernel = kernel_of(clusters.as_bytes(), "add_one_kernel")?;
    let x = on_device(&[1.0; 1024])?;
    kernel.call_packed(&[(&x).into(), (&x).into(), 16i64.into(), 64i64.into(), 16i64.into()])?;
    assert_eq!(values_of(&x)?, [2.0; 1024]);
    let mut map = TensorMap([0; 16]);
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let place = Any::from(unsafe { OpaquePtr::new(ptr::from_mut(&mut map).cast()) });
    let mut args: Vec<AnyView<'_>> = vec![place.view()];
    let (float, address) = (String::new("float32")?, data(&x));
    args.extend([(&float).into(), 1i64.into(), address.view()]);
    args.extend([64i64, 16, 1, 0, 0, 0, 0].map(AnyView::from));
    global("runtime.cuTensorMapEncodeTiled")?.call_packed(&args).map(drop)
}

fn repeat_commands(kernel: &Function, x: &Tensor, y: &Tensor) -> Result<()> {
    let device = Device::from(HERE);
    assert!(Graph::is_supported(device)? && !Graph::is_recording(device)?);
    let (_, graph) = Graph::record(device, || add_one(kernel, x, y, 1))?;
    // SAFETY: the tensors outlive the commands: reading one waits for them.
    unsafe { graph?.launch()? };
    assert_eq!(values_of(y)?, [2.0; 64]);
    Ok(())
}

fn ask_devices() -> Result<()> {
    for number in 1..17 {
        Cuda.attribute(1, Attribute::from_number(number).expect("an attribute"))?;
    }
    global("runtime.GetCudaFreeMemory")?.call_packed(&[]).map(drop)
}

fn scenario(driver: StandIn) -> Result<()> {
    global("__tvm_set_device")?.call_packed(&[2i64.into(), 0i64.into()])?;
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    add_one(&kernel, &x, &y, 1)?;
    repeat_commands(&kernel, &x, &y)?;
    let pinned = device::empty(&[64], F32, PINNED)?;
    copy(&y, &pinned)?;
    wait()?;
    copy(&x, &y)?;
    work_on_streams()?;
    launch_with_attributes()?;
    ask_devices()?;
    let there = device::empty(&[64], F32, SECOND)?;
    copy(&y, &there)?;
    wait()?;
    Cuda.set_device(1)?;
    kernel.call_packed(&[(&there).into(), (&there).into(), 1i64.into(), 64i64.into()])?;
    assert_eq!(values_of(&there)?, [2.0; 64]);
    Cuda.set_device(0)?;
    assert!(driver.number(c"stand_in_retains") <= 2, "a primary context is retained twice");
    Ok(())
}

//! Tests CUDA with a failing driver: each call of a scenario fails in turn, in a process of its own. Each failure is reported
//! as an error, except in calls that release resources; nothing leaks, and the next attempt succeeds.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

#[path = "support/cuda.rs"]
mod cuda_support;

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use core::ffi::c_void;
use core::ptr;

use cuda_support::stand_in::Live;
use cuda_support::*;
use ferrite_alloc_ext::device::{self, Attribute, Backend, Device, Graph};
use ferrite_alloc_ext::env::stream;
use ferrite_core::abi::DLDevice;
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Function, String, Tensor};
use ferrite_gpu::cuda::Cuda;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

// Exit statuses of a child.
const NOT_REACHED: i32 = 3;
const AN_ERROR: i32 = 4;
const SILENT: i32 = 5;
const WRONG: i32 = 6;
/// Failure of a scenario in which no call failed.
const WRONG_AT_THE_END: i32 = 7;

const UNKNOWN: i32 = 999;
const OUT_OF_MEMORY: i32 = 2;
const SECOND: DLDevice = DLDevice { device_id: 1, ..HERE };

/// Calls that release a resource or restore the caller's context. Their errors are ignored.
const RELEASES: [&str; 10] = [
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuMemFree_v2",
    "cuMemFreeHost",
    "cuModuleUnload",
    "cuEventDestroy_v2",
    "cuStreamDestroy_v2",
    "cuCtxSynchronize",
    "cuCtxSetCurrent",
    "cuCtxGetCurrent",
];

/// A stream that is destroyed when dropped.
struct Stream(*mut c_void);

impl Stream {
    fn new() -> Result<Stream> {
        Ok(Stream(Cuda.create_stream(0)?))
    }

    fn free(mut self) -> Result<()> {
        // SAFETY: the stream is owned; the driver destroys it even if it reports an error.
        let freed = unsafe { Cuda.free_stream(0, self.0) };
        let is_gone =
            freed.as_ref().map_or_else(|error| message(error).contains("cuStreamDestroy"), |()| true);
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

/// Calls every driver function that the back end uses.
fn scenario() -> Result<()> {
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
    Cuda.set_device(0)
}

/// Fails the `call`-th call of a scenario, and checks the consequences. Runs in a child.
fn attempt(driver: &Driver, call: u64, code: i32) -> i32 {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    driver.fail(call, code);
    let result = scenario();
    let failed = driver.failed();
    driver.fail(0, 0);
    let complain = |text: std::string::String| {
        eprintln!("call {call} with code {code}, {failed:?}: {text}");
        if failed.is_some() { WRONG } else { WRONG_AT_THE_END }
    };
    // A module stays loaded if its context cannot be made current, since its kernels may be running.
    let kept = u64::from(failed.as_deref() == Some("cuCtxSetCurrent"));
    let live = driver.live();
    if (Live { modules: 0, ..live }) != Live::default() || live.modules > kept {
        return complain(format!("leaked: {live:?}"));
    }
    if let Some(text) = driver.complaint() {
        return complain(text);
    }
    if driver.number(c"stand_in_retains") > 2 {
        return complain("a primary context is retained twice".into());
    }
    let outcome = match (result, &failed) {
        (Ok(()), None) => return NOT_REACHED,
        (Err(error), None) => return complain(format!("failed without a reason: {}", message(&error))),
        (Ok(()), Some(name)) if RELEASES.contains(&name.as_str()) => SILENT,
        (Ok(()), Some(_)) => return complain("no error".into()),
        (Err(error), Some(name)) => {
            let text = message(&error);
            let code_name =
                if code == OUT_OF_MEMORY { "CUDA_ERROR_OUT_OF_MEMORY" } else { "CUDA_ERROR_UNKNOWN" };
            if !text.contains(code_name) {
                return complain(format!("the error does not tell: {text}"));
            }
            let is_memory = ["cuMemAlloc_v2", "cuMemAllocHost_v2", "cuModuleLoadDataEx", "cuStreamCreate"];
            if code == OUT_OF_MEMORY
                && is_memory.contains(&name.as_str())
                && error.kind_bytes() != b"MemoryError"
            {
                return complain(format!("no MemoryError: {text}"));
            }
            AN_ERROR
        }
    };
    // The next attempt succeeds, whatever failed.
    match scenario() {
        Ok(()) if driver.live() == live => outcome,
        Ok(()) => complain(format!("leaked afterwards: {:?}", driver.live())),
        Err(error) => complain(format!("fails afterwards: {}", message(&error))),
    }
}

fn in_child(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `body` and exits; this program has no other threads.
    unsafe {
        let pid = fork();
        if pid == 0 {
            watchdog::watchdog(60);
            let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(2);
            _exit(status);
        }
        let mut status = 0;
        assert_eq!(waitpid(pid, &mut status, 0), pid);
        if status & 0x7f == 0 { status >> 8 & 0xff } else { 99 }
    }
}

fn main() {
    let driver = Driver::open();
    if !driver.is_stand_in {
        println!("not run on a real driver: calls that fail");
        return;
    }
    let (mut errors, mut silent, mut wrong) = (0, 0, 0);
    for code in [UNKNOWN, OUT_OF_MEMORY] {
        for call in 1.. {
            match in_child(|| attempt(&driver, call, code)) {
                AN_ERROR => errors += 1,
                SILENT => silent += 1,
                NOT_REACHED => break,
                WRONG_AT_THE_END => {
                    wrong += 1;
                    break;
                }
                _ => wrong += 1,
            }
        }
    }
    println!(
        "driver calls that failed: {errors} were errors, {silent} gave something up, {wrong} were handled wrongly"
    );
    assert!(errors > 100 && silent > 10, "the scenario calls the driver");
    assert_eq!(wrong, 0);
}

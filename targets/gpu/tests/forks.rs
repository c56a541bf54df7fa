//! Tests forked children: the child of a process that used a device gets errors, nothing hangs, and
//! nothing is freed; a child of a process without a driver opens one. A program of its own, since
//! it forks. Each kind is a process of its own.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use std::process::Command;

#[cfg(any(
    feature = "opencl",
    feature = "vulkan",
    feature = "webgpu",
    feature = "cuda",
    feature = "rocm"
))]
use ferrite_alloc_ext::device;
use ferrite_core::error::Result;
#[cfg(any(feature = "opencl", feature = "vulkan", feature = "webgpu"))]
use support::calls::*;
#[cfg(any(
    feature = "opencl",
    feature = "vulkan",
    feature = "webgpu",
    feature = "cuda",
    feature = "rocm"
))]
use support::fork::{in_child, is_refused};

/// A kind, and its test.
type Row = (&'static str, fn() -> Result<()>);

const KINDS: &[Row] = &[
    #[cfg(feature = "opencl")]
    ("opencl", opencl),
    #[cfg(feature = "vulkan")]
    ("vulkan", || {
        chosen::<ferrite_gpu::vulkan::Vulkan, _>(c"FERRITE_VULKAN_DEVICE", "device", || Ok(|| true))
    }),
    #[cfg(feature = "webgpu")]
    ("webgpu", || {
        chosen::<ferrite_gpu::webgpu::WebGpu, _>(c"FERRITE_WEBGPU_ADAPTER", "adapter", || {
            Ok(|| true)
        })
    }),
    #[cfg(feature = "cuda")]
    ("cuda", cuda),
    #[cfg(feature = "rocm")]
    ("rocm", rocm),
];

/// Environment variable that names the kind of a process.
const KIND: &str = "FERRITE_TEST_KIND";

fn main() {
    if let Ok(kind) = std::env::var(KIND) {
        let (_, test) = KINDS.iter().find(|(name, _)| *name == kind).expect("a kind");
        return test().expect("no error");
    }
    if KINDS.is_empty() {
        println!("forks: this build has no kind of device");
    }
    let failed = KINDS.iter().map(|(kind, _)| *kind).filter(|kind| {
        let program = std::env::current_exe().expect("the path of this program");
        let status = Command::new(program).env(KIND, kind).status().expect("a process");
        println!("forked children of {kind}: {}", if status.success() { "ok" } else { "failed" });
        !status.success()
    });
    assert_eq!(failed.collect::<Vec<_>>(), [""; 0]);
}

/// Exit status of a child whose checks all passed.
#[cfg(any(
    feature = "opencl",
    feature = "vulkan",
    feature = "webgpu",
    feature = "cuda",
    feature = "rocm"
))]
const PASSED: i32 = 7;

/// Tests a kind whose devices are chosen by the words of an environment variable. `handles` makes
/// handles of the device, and returns whether a child is refused to use them.
#[cfg(any(feature = "opencl", feature = "vulkan", feature = "webgpu"))]
fn chosen<K: support::kind::Kind, H: FnOnce() -> bool>(
    variable: &core::ffi::CStr,
    word: &str,
    handles: impl FnOnce() -> Result<H>,
) -> Result<()> {
    unsafe extern "C" {
        fn setenv(
            name: *const core::ffi::c_char,
            value: *const core::ffi::c_char,
            replace: i32,
        ) -> i32;
    }
    let choose = |text: &core::ffi::CStr| {
        // SAFETY: both strings end in a NUL, and a new child has one thread.
        unsafe { setenv(variable.as_ptr(), text.as_ptr(), 1) };
        K::BACKEND.set_device(0)
    };
    ferrite_gpu::install();
    let opened = in_child(|| i32::from(K::BACKEND.set_device(0).is_err()));
    assert_eq!(opened, 0, "a child of a process without a driver");
    assert_eq!(in_child(|| i32::from(choose(c"").is_err())), 0, "the empty text is in every name");
    let nothing = format!("no such {word}");
    let none = in_child(|| {
        let text = std::ffi::CString::new(&*nothing).expect("no NUL");
        let error = choose(&text).expect_err("no such device");
        if message(&error).starts_with(&format!("No {} {word} has {nothing} in its name", K::NAME))
        {
            PASSED
        } else {
            1
        }
    });
    assert_eq!(none, PASSED);
    let tensor = device::empty(&[4], F32, K::HERE)?;
    let are_handles_refused = handles()?;
    let refused = in_child(move || {
        let results = [
            is_refused(K::BACKEND.set_device(0)),
            is_refused(device::empty(&[4], F32, K::HERE)),
            is_refused(K::BACKEND.allocate_workspace(0, 8)),
            are_handles_refused(),
        ];
        drop(tensor);
        if results == [true; 4] { PASSED } else { 1 }
    });
    assert_eq!(refused, PASSED);
    // The parent can still use the device.
    K::BACKEND.set_device(0)
}

#[cfg(feature = "opencl")]
fn opencl() -> Result<()> {
    use ferrite_alloc_ext::device::{Device, DeviceTensor, Event, Stream};
    use support::kind::Kind;
    chosen::<ferrite_gpu::opencl::OpenCl, _>(c"FERRITE_OPENCL_PLATFORM", "platform", || {
        let here = ferrite_gpu::opencl::OpenCl::HERE;
        let (stream, mut event) = (Stream::new(here.into())?, Event::new(here.into())?);
        event.record(&stream)?;
        Ok(move || {
            event.synchronize().is_err()
                && event.record(&stream).is_err()
                && stream.wait_for_event(&event).is_err()
                && stream.synchronize().is_err()
                && !Device::from(here).exists()
                && DeviceTensor::from_slice(here.into(), &[1.0f32], &[1]).is_err()
        })
    })
}

#[cfg(feature = "cuda")]
fn cuda() -> Result<()> {
    use device::Backend;
    use ferrite_gpu::cuda::Cuda;
    use support::cuda::*;
    let session = Session::begin();
    let driver = session.driver;
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    add_one(&kernel, &x, &y, 1)?;
    let stream = Cuda.create_stream(0)?;
    let state = || driver.is_stand_in.then(|| (driver.live(), driver.pending()));
    let queued = state();
    let (kernel_, x_, y_) = (kernel.clone(), x.clone(), y.clone());
    let refused = in_child(move || {
        let results = [
            is_refused(add_one(&kernel_, &x_, &y_, 1)),
            is_refused(Cuda.set_device(0)),
            is_refused(device::empty(&[4], F32, HERE)),
            is_refused(Cuda.allocate_workspace(0, 8)),
            is_refused(Cuda.create_stream(0)),
            is_refused(wait()),
            is_refused(
                global("runtime.GetCudaDeviceCount").and_then(|count| count.call_packed(&[])),
            ),
            is_refused(add_one(&kernel_of(PTX_MODULE, "add_one_kernel").unwrap(), &x_, &y_, 1)),
        ];
        // The child frees nothing of the parent's, and calls no driver function.
        let before = state();
        drop((kernel_, x_, y_));
        if results == [true; 8] && [before, state()] == [queued; 2] { PASSED } else { 1 }
    });
    assert_eq!(refused, PASSED, "the child of a process that used a device");
    // The parent can still use the device.
    assert_eq!(values_of(&y)?, [2.0; 64]);
    // SAFETY: the stream is owned.
    unsafe { Cuda.free_stream(0, stream) }
}

#[cfg(feature = "rocm")]
fn rocm() -> Result<()> {
    use device::Backend;
    use ferrite_gpu::rocm::{Rocm, RocmHost};
    use support::rocm::*;
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let stand_in = if open_real().is_some() { None } else { Some(open_stand_in(1)) };
    println!("on {}", if stand_in.is_some() { "the stand-in" } else { "the GPU of this machine" });
    let opened = in_child(|| i32::from(Rocm.set_device(0).is_err()));
    assert_eq!(opened, 0, "a child of a process without a driver opens one");
    let (x, kernel) = (on(HERE, &[1.0; 64])?, kernel("add_one_kernel")?);
    add_one(&kernel, &x, &x, 1)?;
    let workspace = Rocm.allocate_workspace(0, 8)?;
    let calls = |name| stand_in.map_or(0, |stand_in| stand_in.calls(name));
    let freed = || calls(c"hipFree") + calls(c"hipFreeAsync") + calls(c"hipModuleUnload");
    let before = freed();
    let refused = in_child(|| {
        let results = [
            is_refused(Rocm.set_device(0)),
            add_one(&kernel, &x, &x, 1).is_err(),
            device::empty(&[4], F32, HERE).is_err(),
            device::empty(&[4], F32, PINNED).is_err(),
            Rocm.allocate_workspace(0, 8).is_err(),
            RocmHost.allocate_workspace(0, 8).is_err(),
            // SAFETY: the workspace is freed once; null is the default stream of every device.
            unsafe {
                Rocm.free_workspace(0, workspace).is_err()
                    && Rocm.synchronize(0, core::ptr::null_mut()).is_err()
            },
            values_of(&x).is_err(),
        ];
        drop((x, kernel));
        if results == [true; 8] && freed() == before { PASSED } else { 1 }
    });
    assert_eq!(refused, PASSED);
    // The parent can still use the device.
    wait()
}

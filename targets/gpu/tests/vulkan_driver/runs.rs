//! Test runs for each kind of driver.

use std::process::Command;

use ash::vk;
use ferrite_alloc_ext::device::{self, Backend};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_core::{Any, Function, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::Writer;
use ferrite_gpu::vulkan::Vulkan;

use super::allocations;
use super::driver::{self, Look, Loss};

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 7, device_id: 0 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };
const ADD: &[u8] = include_bytes!("../../../../tests/programs/device/vulkan/shaders/add.spv");
const ADD_UNIFORM: &[u8] =
    include_bytes!("../../../../tests/programs/device/vulkan/shaders/add_uniform.spv");

const OUT_OF_HOST_MEMORY: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
const UNKNOWN: vk::Result = vk::Result::ERROR_UNKNOWN;

pub fn main() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    match std::env::args().nth(1).as_deref() {
        Some("itself") => whole_run(Look::Itself),
        Some("sets") => whole_run(Look::Sets),
        Some("old") => whole_run(Look::Old),
        Some("incomplete") => incomplete(),
        Some("lost-wait") => loss(Loss::Wait),
        Some("lost-submission") => loss(Loss::Submission),
        Some("two") => two_devices(),
        Some("missing") => missing(),
        _ => run_all(),
    }
}

fn run_all() {
    for run in
        ["itself", "sets", "old", "incomplete", "lost-wait", "lost-submission", "two", "missing"]
    {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        let status = command.arg(run).status().expect("a child");
        assert!(status.success(), "{run}: {status}");
    }
}

/// Loads a kernel `k` that adds a number.
fn module(flags: u32, code: &[u8]) -> Result<Module> {
    let mut payload = Writer::new();
    payload.text(b"vulkan")?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(3)?;
    [HANDLE, HANDLE, I32].into_iter().try_for_each(|dtype| payload.dtype(dtype))?;
    payload.count(1)?;
    payload.text(b"blockIdx.x")?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.shader(flags, code)?;
    DeviceModule::<Vulkan>::load(payload.finish()?)
}

fn kernel(flags: u32, code: &[u8]) -> Result<Function> {
    Ok(module(flags, code)?.get_function(&String::new("k")?, false)?.expect("a kernel"))
}

fn launch(kernel: &Function, x: &Tensor, y: &Tensor, n: i64) -> Result<()> {
    let [x, y] = [x, y].map(|tensor| {
        // SAFETY: kernels that get the address find the memory of a tensor or workspace there.
        Any::from(unsafe { ferrite_core::value::convert::OpaquePtr::new(tensor.dl_tensor().data) })
    });
    kernel.call_packed(&[x.view(), y.view(), n.into(), 2i64.into()]).map(drop)
}

fn copy(from: &Tensor, to: &Tensor) -> Result<()> {
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(from.dl_tensor(), to.dl_tensor(), core::ptr::null_mut()) }
}

fn synchronize() -> Result<()> {
    // SAFETY: null is the device's default stream.
    unsafe { Vulkan.synchronize(0, core::ptr::null_mut()) }
}

/// Uses every part of the back end; returns a tensor in which each element must be 1 + 2 + 3 + 4.
fn use_everything() -> Result<Vec<f32>> {
    Vulkan.set_device(0)?;
    // So that the driver makes the buffers anew.
    Vulkan.release_unused_memory(0)?;
    let host = Tensor::from_slice(&[1f32; 16], &[16])?;
    let (x, y, z) = (
        device::empty(&[16], F32, HERE)?,
        device::empty(&[16], F32, HERE)?,
        device::empty(&[16], F32, HERE)?,
    );
    // Large enough for an allocation of its own.
    let large = device::empty(&[10 << 20], F32, HERE)?;
    copy(&host, &x)?;
    launch(&kernel(0, ADD)?, &x, &y, 2)?;
    launch(&kernel(1, ADD_UNIFORM)?, &y, &large, 3)?;
    drop(y);
    let workspace = alloc_workspace(7, 0, 100)?;
    let launched = kernel(0, ADD).and_then(|kernel| launch(&kernel, &large, &x, 4));
    // SAFETY: the workspace is freed once.
    unsafe { free_workspace(7, 0, workspace)? };
    launched?;
    copy(&x, &z)?;
    synchronize()?;
    let result = device::empty(&[16], F32, CPU)?;
    copy(&z, &result)?;
    Ok(result.as_slice::<f32>()?.to_vec())
}

/// Makes every batch create the resources that it keeps, by copies that need the staging memory of
/// each.
fn warm_up() {
    let large = device::empty(&[4 << 20], F32, CPU).expect("memory");
    let there = device::empty(&[4 << 20], F32, HERE).expect("memory");
    for _ in 0..2 {
        copy(&large, &there).and_then(|()| synchronize()).expect("a copy");
    }
    drop(there);
    use_everything().map_err(|error| text(&error)).expect("a use");
}

fn text(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

fn whole_run(look: Look) {
    driver::install(look);
    let opening = fail_at_every_call(
        OUT_OF_HOST_MEMORY,
        || Vulkan.set_device(0),
        || {
            // The instance is kept when a device cannot be opened.
            driver::alive().keys().all(|kind| *kind == "Instance")
        },
    );
    let expected = [10.0; 16];
    warm_up();
    assert_eq!(use_everything().map_err(|error| text(&error)), Ok(expected.to_vec()));
    let kept = driver::alive();
    let use_right = || use_everything().map(|found| assert_eq!(found, expected));
    let mut using = 0;
    for status in [OUT_OF_HOST_MEMORY, UNKNOWN] {
        using += fail_at_every_call(status, use_right, || {
            // The next use destroys resources of commands that have completed meanwhile.
            use_right().map_err(|error| text(&error)).expect("a use without a failure");
            assert_eq!(driver::alive(), kept);
            true
        });
    }
    no_allocation_in_launches();
    small_tensors_share_allocations();
    new_tensors_reuse_freed_buffers();
    launches_keep_their_buffers();
    events_submit_what_they_wait_for();
    println!(
        "{look:?}: {opening} failures while it was opened, {using} while it was used, nothing lost"
    );
}

/// Runs `body` with each call failing in turn. Returns the number of failures.
fn fail_at_every_call(
    status: vk::Result,
    body: impl Fn() -> Result<()>,
    is_clean: impl Fn() -> bool,
) -> u32 {
    let mut failures = 0;
    for n in 1.. {
        driver::fail(n, status);
        let outcome = body();
        if !driver::stop_failing() {
            outcome.map_err(|error| text(&error)).expect("a run without a failure");
            return failures;
        }
        failures += 1;
        if let Err(error) = outcome {
            let kind =
                if status == OUT_OF_HOST_MEMORY { &b"MemoryError"[..] } else { b"InternalError" };
            assert_eq!(error.kind_bytes(), kind, "call {n}: {}", text(&error));
            assert!(text(&error).contains("VK_ERROR_"), "call {n}: {}", text(&error));
        }
        assert!(is_clean(), "call {n} of {status:?}: {:?} are alive", driver::alive());
    }
    failures
}

fn no_allocation_in_launches() {
    let (push, uniform) =
        (kernel(0, ADD).expect("a kernel"), kernel(1, ADD_UNIFORM).expect("a kernel"));
    let tensor = || device::empty(&[16], F32, HERE).expect("a tensor");
    let (x, y) = (tensor(), tensor());
    let launch_both = || {
        for n in 0..1500 {
            launch(&push, &x, &y, n).expect("a launch");
            launch(&uniform, &x, &y, n).expect("a launch");
        }
        synchronize().expect("a wait");
    };
    // A slower device has more launches in flight than before, for which there is no room yet.
    let is_settled = (0..20).any(|_| allocations::count(launch_both) == 0);
    assert!(is_settled, "launches allocate nothing if as many were in flight before");
    assert_ne!(allocations::count(|| drop(tensor())), 0, "allocations are counted");
}

fn small_tensors_share_allocations() {
    let allocations = || driver::alive()["Memory"];
    let before = allocations();
    // The number of allocations that some drivers support.
    let tensors: Vec<_> =
        (0..4096).map(|_| device::empty(&[16], F32, HERE).expect("a tensor")).collect();
    assert!(
        allocations() <= before + 2,
        "{} allocations for {} tensors",
        allocations() - before,
        tensors.len()
    );
    drop(tensors);
    assert!(allocations() <= before + 1, "an unused block is kept, not more");
}

fn new_tensors_reuse_freed_buffers() {
    let kernel = kernel(0, ADD).expect("a kernel");
    let tensor = |elements| device::empty(&[elements], F32, HERE).expect("a tensor");
    Vulkan.release_unused_memory(0).expect("a wait");
    let (x, large) = (tensor(16), tensor(1000));
    copy(&Tensor::from_slice(&[1f32; 16], &[16]).expect("a tensor"), &x).expect("a copy");
    drop(large);
    let buffers = || driver::alive()["Buffer"];
    let (before, calls) = (buffers(), driver::calls());
    (0..1000).for_each(|n| drop(tensor(900 + n % 100)));
    println!("1,000 tensors: {} calls of the driver", driver::calls() - calls);
    assert_eq!(driver::calls(), calls);
    assert_eq!(buffers(), before);
    // A launch that is queued uses the buffer before its next owner.
    let y = tensor(1000);
    launch(&kernel, &x, &y, 1).expect("a launch");
    launch(&kernel, &y, &x, 2).expect("a launch");
    drop(y);
    let (y, back) = (tensor(900), device::empty(&[16], F32, CPU).expect("a tensor"));
    assert_eq!(buffers(), before, "the buffer has its next owner");
    launch(&kernel, &x, &y, 3).expect("a launch");
    let source = device::Region { device: HERE, data: y.dl_tensor().data, offset: 900 * 4 };
    let target = device::Region { device: HERE, data: x.dl_tensor().data, offset: 0 };
    // SAFETY: the tensors are live; the copy is rejected.
    let error = unsafe { Vulkan.copy(source, target, 4, core::ptr::null_mut()) };
    assert_eq!(
        text(&error.expect_err("an error")),
        "A copy of 4 bytes at 3600 is beyond the memory, which has 3600"
    );
    copy(&x, &back).expect("a copy");
    assert_eq!(back.as_slice::<f32>().as_deref().map_err(text), Ok(&[4f32; 16][..]));
    Vulkan.release_unused_memory(0).expect("a wait");
    drop((x, y));
    Vulkan.release_unused_memory(0).expect("a wait");
    assert_eq!(buffers(), before - 2);
}

/// Queues more launches than the initial number of descriptor sets, each with buffers and a number
/// of its own.
fn launches_keep_their_buffers() {
    let tensor = || device::empty(&[16], F32, HERE).expect("a tensor");
    let x = tensor();
    copy(&Tensor::from_slice(&[0.5f32; 16], &[16]).expect("a tensor"), &x).expect("a copy");
    for (flags, code) in [(0, ADD), (1, ADD_UNIFORM)] {
        let kernel = kernel(flags, code).expect("a kernel");
        let outputs: Vec<_> = (0..300).map(|_| tensor()).collect();
        for (n, y) in outputs.iter().enumerate() {
            launch(&kernel, &x, y, n as i64).expect("a launch");
        }
        let back = device::empty(&[16], F32, CPU).expect("a tensor");
        for (n, y) in outputs.iter().enumerate() {
            copy(y, &back).expect("a copy");
            assert_eq!(
                back.as_slice::<f32>().as_deref().map_err(text),
                Ok(&[n as f32 + 0.5; 16][..])
            );
        }
    }
}

fn events_submit_what_they_wait_for() {
    let kernel = kernel(0, ADD).expect("a kernel");
    let tensor = || device::empty(&[16], F32, HERE).expect("a tensor");
    let (x, y) = (tensor(), tensor());
    let event = Vulkan.create_event(0, false).expect("an event");
    let before = driver::submissions();
    // SAFETY: the event belongs to the device, and only this thread uses it.
    unsafe {
        Vulkan.synchronize_event(0, event).expect("no wait");
        launch(&kernel, &x, &y, 1).expect("a launch");
        assert_eq!(driver::submissions(), before, "one launch is no batch");
        Vulkan.record_event(0, event, core::ptr::null_mut()).expect("a record");
        Vulkan.wait_for_event(0, event, core::ptr::null_mut()).expect("an order");
        assert_eq!(driver::submissions(), before, "the queue is in order");
        Vulkan.synchronize_event(0, event).expect("a wait");
        assert_eq!(driver::submissions(), before + 1);
        Vulkan.synchronize_event(0, event).expect("no wait");
        assert_eq!(driver::submissions(), before + 1);
        Vulkan.free_event(0, event);
    }
}

/// Checks that discrete GPUs come first, and that memory of one device is rejected on another.
fn two_devices() {
    const CHOICE: &str = "FERRITE_VULKAN_DEVICE";
    driver::install(Look::Two);
    let name = |id| {
        Vulkan.attribute(id, device::Attribute::DeviceName).and_then(|name| name.get::<String>())
    };
    if std::env::var_os(CHOICE).is_some() {
        // The choice is spelled in lower case.
        assert!(name(0).expect("a name").as_bytes().starts_with(b"A"));
        assert_eq!(text(&name(1).expect_err("one device")), "Invalid Vulkan device_id=1. ");
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    let status = command.arg("two").env(CHOICE, "alvmpipe").status();
    assert!(status.expect("a child").success(), "a choice by name");
    assert!(name(0).expect("a name").as_bytes().starts_with(b"B"));
    assert!(name(1).expect("a name").as_bytes().starts_with(b"A"));
    let there = DLDevice { device_id: 1, ..HERE };
    let host = Tensor::from_slice(&[1f32; 16], &[16]).expect("a tensor");
    let (x, y) = (device::empty(&[16], F32, HERE), device::empty(&[16], F32, there));
    let (x, y) = (x.expect("a tensor"), y.expect("a tensor"));
    copy(&host, &x).and_then(|()| copy(&x, &y)).expect("a copy between devices");
    let back = device::empty(&[16], F32, CPU).expect("a tensor");
    copy(&y, &back).expect("a copy");
    assert_eq!(back.as_slice::<f32>().as_deref().map_err(text), Ok(&[1f32; 16][..]));
    let kernel = kernel(0, ADD).expect("a kernel");
    for (id, mine, other) in [(0, &x, &y), (1, &y, &x)] {
        Vulkan.set_device(id).expect("a device");
        launch(&kernel, mine, mine, 1).expect("a launch");
        let error = launch(&kernel, mine, other, 1).expect_err("memory of the other device");
        assert_eq!(text(&error), "Kernel argument #1 is memory of another device");
    }
    // A region with a wrong device.
    let mut record = *x.dl_tensor();
    record.device.device_id = 1;
    // SAFETY: the tensors are live; the copy is rejected.
    let error = unsafe { device::copy_tensor(&record, host.dl_tensor(), core::ptr::null_mut()) };
    assert_eq!(
        text(&error.expect_err("an error")),
        "The memory of a copy is not of the Vulkan device 1"
    );
    println!("Two: sorted, chosen, apart");
}

/// Checks that the error names the function that a driver lacks, and that nothing stays open.
fn incomplete() {
    driver::install(Look::Incomplete);
    for _ in 0..2 {
        let error = Vulkan.set_device(0).expect_err("an error");
        assert_eq!(text(&error), "The Vulkan driver has no function vkCmdDispatch");
        // Only the instance stays open; the device is closed again.
        assert_eq!(driver::alive().into_iter().collect::<Vec<_>>(), [("Instance", 1)]);
    }
    println!("Incomplete: named");
}

/// Checks that after a device is lost every use is an error, nothing hangs, and all memory is
/// freed.
fn loss(by: Loss) {
    driver::install(Look::Itself);
    warm_up();
    let kept = driver::alive();
    let kernel = kernel(0, ADD).expect("a kernel");
    let tensor = || device::empty(&[16], F32, HERE).expect("a tensor");
    let (x, y) = (tensor(), tensor());
    launch(&kernel, &x, &y, 1).expect("a launch");
    // One batch is in flight, and another is open.
    synchronize().expect("a wait");
    launch(&kernel, &x, &y, 1).expect("a launch");
    driver::lose(by);
    let lost = "Vulkan Error, code=-4: VK_ERROR_DEVICE_LOST";
    assert_eq!(text(&synchronize().expect_err("a loss")), lost);
    driver::lose(Loss::None);
    assert_eq!(text(&launch(&kernel, &x, &y, 1).expect_err("a loss")), lost);
    assert_eq!(text(&synchronize().expect_err("a loss")), lost);
    let host = Tensor::from_slice(&[0f32; 16], &[16]).expect("a tensor");
    assert_eq!(text(&copy(&x, &host).expect_err("a loss")), lost);
    assert_eq!(text(&copy(&host, &x).expect_err("a loss")), lost);
    drop((kernel, x, y));
    assert_eq!(driver::alive(), kept, "objects of a lost device");
    println!("Lost: told, nothing kept");
}

/// Checks that the error names the library if the driver is missing.
fn missing() {
    const ONLY_HERE: &str = "FERRITE_TEST_WITHOUT_DRIVER";
    if std::env::var_os(ONLY_HERE).is_none() {
        // A file that is not a library, in the folder of libraries that is searched first.
        let folder = std::env::temp_dir().join(format!("ferrite-no-vulkan-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("libvulkan.so.1"), "no library").expect("a file");
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        let mut path = folder.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH") {
            path.push(":");
            path.push(others);
        }
        let status =
            command.arg("missing").env(ONLY_HERE, "1").env("LD_LIBRARY_PATH", path).status();
        std::fs::remove_dir_all(&folder).expect("the folder");
        assert!(status.expect("a child").success());
        return;
    }
    for _ in 0..2 {
        let error = Vulkan.set_device(0).expect_err("an error");
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        let message = text(&error);
        assert!(
            message.starts_with("The driver is not installed: looked for libvulkan.so.1 ("),
            "{message}"
        );
        let kernel = kernel(0, ADD).expect("modules are loaded without a driver");
        assert!(kernel.call_packed(&[]).is_err());
        assert!(device::empty(&[1], F32, HERE).is_err());
        let exists = Vulkan.attribute(0, device::Attribute::Exists);
        assert_eq!(
            exists.and_then(|exists| exists.get::<i64>()).map_err(|error| text(&error)),
            Ok(0)
        );
    }
    println!("Missing: named");
}

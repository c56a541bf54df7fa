//! Tests the pool of device memory of ROCm on the stand-in, by the driver's calls and by the memory
//! that commands find when they run.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod support;

use ferrite_alloc_ext::device::{self, Device, Graph, Stream};
use ferrite_core::Tensor;
use ferrite_core::error::Result;
use support::rocm::*;
use support::stand_in::StandIn;

fn device() -> Device {
    Device::from(HERE)
}

fn empty(elements: i64) -> Result<Tensor> {
    device::empty(&[elements], F32, HERE)
}

/// Returns the numbers of calls of these functions during `body`.
fn calls_of<const N: usize>(
    driver: StandIn,
    names: [&core::ffi::CStr; N],
    body: impl FnOnce() -> Result<()>,
) -> Result<[u64; N]> {
    let before = names.map(|name| driver.calls(name));
    body()?;
    let after = names.map(|name| driver.calls(name));
    Ok(core::array::from_fn(|index| after[index] - before[index]))
}

#[test]
fn a_thousand_tensors_wait_for_nothing() -> Result<()> {
    let Some((_session, driver)) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    drop(empty(64)?);
    let names = [
        c"hipMallocFromPoolAsync",
        c"hipFreeAsync",
        c"hipMalloc",
        c"hipFree",
        c"hipDeviceSynchronize",
        c"hipEventRecord",
    ];
    let counts = calls_of(driver, names, || (0..1000).try_for_each(|_| empty(64).map(drop)))?;
    assert_eq!(counts, [1000, 1000, 0, 0, 0, 0]);
    Ok(())
}

#[test]
fn memory_is_freed_after_the_commands_of_every_stream() -> Result<()> {
    let Some((_session, driver)) = Session::on_stand_in("commands of streams") else {
        return Ok(());
    };
    let kernel = kernel("add_one_kernel")?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let (one, other) = (Stream::new(device())?, Stream::new(device())?);
    let between = empty(64)?;
    one.wait_for(&Stream::default_of(device()))?;
    one.scope(|| add_one(&kernel, &x, &between, 1))??;
    other.wait_for(&one)?;
    other.scope(|| add_one(&kernel, &between, &y, 1))??;
    let names = [c"hipDeviceSynchronize", c"hipFreeAsync", c"hipFree", c"hipEventCreateWithFlags"];
    let counts = calls_of(driver, names, || {
        one.scope(|| {
            drop(between);
            empty(64).map(drop)
        })?
    })?;
    assert_eq!(counts, [0, 2, 0, 1], "one event orders the streams");
    one.synchronize()?;
    wait()?;
    assert_eq!(values_of(&y)?, [3.0; 64]);
    Ok(())
}

#[test]
fn memory_that_is_freed_in_a_recording_waits_for_its_end() -> Result<()> {
    let Some((_session, driver)) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    let kernel = kernel("add_one_kernel")?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let mut others = vec![empty(64)?, empty(64)?];
    let frees = || driver.calls(c"hipFreeAsync");
    let mut in_recording = 0;
    let (_, graph) = Graph::record(device(), || {
        let before = frees();
        drop(others.pop());
        add_one(&kernel, &x, &y, 1)?;
        in_recording = frees() - before;
        Ok(())
    })?;
    assert_eq!(in_recording, 0, "the second call is recorded");
    let graph = graph?;
    let before = frees();
    drop(empty(64)?);
    assert_eq!(frees() - before, 2, "that of the recording, and the new one");
    // SAFETY: the tensors outlive the commands.
    unsafe { graph.launch()? };
    assert_eq!(values_of(&y)?, [2.0; 64]);
    Ok(())
}

#[test]
fn a_device_out_of_memory_gets_unused_memory_back() -> Result<()> {
    let Some((_session, driver)) = Session::on_stand_in("limited memory") else { return Ok(()) };
    device().release_unused_memory()?;
    driver.limit_memory(1 << 20);
    let made = (|| {
        drop([empty(100 << 10)?, empty(100 << 10)?]);
        // The pool keeps 800 KiB; another allocation of the driver needs 500.
        let workspace = || {
            let workspace = ferrite_core::call::backend::alloc_workspace(10, 0, 500 << 10)?;
            // SAFETY: the workspace is freed once.
            unsafe { ferrite_core::call::backend::free_workspace(10, 0, workspace) }
        };
        // The stream takes its workspaces with it.
        let on_stream = || Stream::new(device())?.scope(workspace)?;
        assert_eq!(calls_of(driver, [c"hipMemPoolTrimTo"], on_stream)?, [1]);
        let names = [c"hipMemPoolTrimTo", c"hipMallocFromPoolAsync"];
        let refused = || {
            refused(empty(1 << 20), "MemoryError");
            Ok(())
        };
        assert_eq!(calls_of(driver, names, refused)?, [1, 2], "tried twice");
        empty(10 << 10).map(drop)
    })();
    driver.limit_memory(256 << 20);
    made
}

#[test]
fn the_pool_can_be_turned_off() {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "without_pool"]).env("FERRITE_DEVICE_POOL", "0");
    let output = command.output().expect("a process");
    let text = std::string::String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "runs as a process with an environment variable"]
fn without_pool() -> Result<()> {
    let Some((_session, driver)) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    let names = [c"hipMemPoolCreate", c"hipMallocFromPoolAsync", c"hipMalloc", c"hipFree"];
    let thousand = || (0..1000).try_for_each(|_| empty(64).map(drop));
    assert_eq!(calls_of(driver, names, thousand)?, [0, 0, 1000, 1000]);
    device().release_unused_memory()
}

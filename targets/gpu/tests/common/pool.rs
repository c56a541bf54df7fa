//! Tests of the pool of device memory that CUDA and ROCm pass, by the driver's calls and by the
//! memory that commands find when they run. The program names its driver `driver`.

use ferrite_alloc_ext::device::{self, Device, Graph, Stream};
use ferrite_core::Tensor;
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;

use super::driver::*;
use super::support::stand_in::StandIn;

pub fn device() -> Device {
    Device::from(HERE)
}

pub fn empty(elements: i64) -> Result<Tensor> {
    device::empty(&[elements], F32, HERE)
}

/// Returns the numbers of calls of these functions during `body`.
pub fn calls_of<const N: usize>(
    driver: StandIn,
    names: [&core::ffi::CStr; N],
    body: impl FnOnce() -> Result<()>,
) -> Result<[u64; N]> {
    let before = names.map(|name| driver.calls(name));
    body()?;
    let after = names.map(|name| driver.calls(name));
    Ok(core::array::from_fn(|index| after[index] - before[index]))
}

/// Runs an ignored test in a process of its own.
pub fn in_process(test: &str, pool: Option<&str>) {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", test]);
    if let Some(pool) = pool {
        command.env("FERRITE_DEVICE_POOL", pool);
    }
    let output = command.output().expect("a process");
    let text = std::string::String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_thousand_tensors_synchronise_nothing() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("counts of calls") else { return Ok(()) };
    drop(empty(64)?);
    let names = [
        names::ALLOCATE_FROM_POOL,
        names::FREE_TO_POOL,
        names::ALLOCATE,
        names::FREE,
        names::SYNCHRONIZE_DEVICE,
        names::SYNCHRONIZE_STREAM,
        names::RECORD_EVENT,
    ];
    let counts = calls_of(driver, names, || (0..1000).try_for_each(|_| empty(64).map(drop)))?;
    assert_eq!(counts, [1000, 1000, 0, 0, 0, 0, 0]);
    Ok(())
}

#[test]
fn memory_is_freed_after_the_commands_of_every_stream_of_ours() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("commands of streams") else { return Ok(()) };
    let kernel = adding_kernel()?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let (one, other) = (Stream::new(device())?, Stream::new(device())?);
    let between = empty(64)?;
    one.wait_for(&Stream::default_of(device()))?;
    one.scope(|| add_one(&kernel, &x, &between, 1))??;
    other.wait_for(&one)?;
    other.scope(|| add_one(&kernel, &between, &y, 1))??;
    // Nobody waited: both kernels run later, and before the memory is freed.
    let names = [names::SYNCHRONIZE_DEVICE, names::FREE_TO_POOL, names::FREE];
    let counts = calls_of(driver, names, || {
        drop(between);
        Ok(())
    })?;
    assert_eq!(counts, [0, 1, 0]);
    Stream::default_of(device()).synchronize()?;
    wait_for_all(driver);
    assert_eq!(values_of(&y)?, [3.0; 64]);
    Ok(())
}

#[test]
fn commands_of_other_streams_run_after_the_free() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("commands of streams") else { return Ok(()) };
    let kernel = adding_kernel()?;
    let (x, y, z) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?, on(HERE, &[0.0; 64])?);
    let stream = Stream::new(device())?;
    stream.scope(|| add_one(&kernel, &x, &z, 1))??;
    add_one(&kernel, &x, &y, 1)?;
    let pending = driver.pending();
    drop(empty(64)?);
    stream.scope(|| add_one(&kernel, &y, &z, 1))??;
    assert!(driver.pending() > pending, "nobody waited");
    // The free ordered the stream after the kernel that writes `y`.
    stream.synchronize()?;
    assert_eq!(values_of(&z)?, [3.0; 64]);
    Ok(())
}

#[test]
fn one_event_orders_the_streams() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("counts of calls") else { return Ok(()) };
    let kernel = adding_kernel()?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let stream = Stream::new(device())?;
    stream.scope(|| add_one(&kernel, &x, &y, 1))??;
    let names =
        [names::CREATE_EVENT, names::RECORD_EVENT, names::WAIT_FOR_EVENT, names::DESTROY_EVENT];
    let counts = calls_of(driver, names, || (0..100).try_for_each(|_| empty(64).map(drop)))?;
    assert_eq!(counts, [1, 200, 200, 0]);
    let [destroyed] = calls_of(driver, [names::DESTROY_EVENT], || {
        drop(stream);
        Ok(())
    })?;
    assert_eq!(destroyed, 1);
    Ok(())
}

#[test]
fn a_stream_that_is_destroyed_is_waited_for() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("commands of streams") else { return Ok(()) };
    let kernel = adding_kernel()?;
    let (x, between) = (on(HERE, &[1.0; 64])?, empty(64)?);
    let stream = Stream::new(device())?;
    stream.scope(|| add_one(&kernel, &x, &between, 1))??;
    drop(stream);
    drop(between);
    Stream::default_of(device()).synchronize()?;
    wait_for_all(driver);
    Ok(())
}

#[test]
fn memory_that_is_freed_in_a_recording_waits_for_its_end() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("counts of calls") else { return Ok(()) };
    let kernel = adding_kernel()?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let mut others = vec![empty(64)?, empty(64)?];
    let frees = || driver.calls(names::FREE_TO_POOL);
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
fn streams_that_are_being_recorded_are_not_ordered() -> Result<()> {
    let Some((_session, _driver)) = begin_on_stand_in("recordings") else { return Ok(()) };
    let kernel = adding_kernel()?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    let (_, graph) = Graph::record(device(), || {
        add_one(&kernel, &x, &y, 1)?;
        // Another thread goes on with the default stream.
        std::thread::scope(|scope| {
            let made = scope.spawn(|| empty(64).map(drop)).join();
            made.expect("no panic")
        })?;
        add_one(&kernel, &y, &y, 1)
    })?;
    let graph = graph?;
    // SAFETY: the tensors outlive the commands.
    unsafe { graph.launch()? };
    assert_eq!(values_of(&y)?, [3.0; 64]);
    Ok(())
}

#[test]
fn a_device_out_of_memory_gets_unused_memory_back() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("limited memory") else { return Ok(()) };
    device().release_unused_memory()?;
    driver.limit_memory(1 << 20);
    let made = (|| {
        drop([empty(100 << 10)?, empty(100 << 10)?]);
        // The pool keeps 800 KiB; another allocation of the driver needs 500.
        let workspace = || {
            let workspace = alloc_workspace(HERE.device_type, 0, 500 << 10)?;
            // SAFETY: the workspace is freed once.
            unsafe { free_workspace(HERE.device_type, 0, workspace) }
        };
        // The stream takes its workspaces with it.
        let on_stream = || Stream::new(device())?.scope(workspace)?;
        let trims = [names::TRIM_POOL, names::SYNCHRONIZE_DEVICE];
        assert_eq!(calls_of(driver, trims, on_stream)?, [1, 1]);
        let names = [names::TRIM_POOL, names::ALLOCATE_FROM_POOL];
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
    in_process("pool::without_pool", Some("0"));
}

#[test]
#[ignore = "runs as a process with an environment variable"]
fn without_pool() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("counts of calls") else { return Ok(()) };
    let names = [names::CREATE_POOL, names::ALLOCATE_FROM_POOL, names::ALLOCATE, names::FREE];
    let thousand = || (0..1000).try_for_each(|_| empty(64).map(drop));
    assert_eq!(calls_of(driver, names, thousand)?, [0, 0, 1000, 1000]);
    device().release_unused_memory()
}

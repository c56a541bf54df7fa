//! Tests the pool of device memory of CUDA on the stand-in, by the driver's calls and by the memory
//! that commands find when they run.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use ferrite_alloc_ext::device::{self, Device, Graph, Stream};
use ferrite_alloc_ext::env::stream;
use ferrite_core::Tensor;
use ferrite_core::error::Result;
use support::cuda::*;

fn device() -> Device {
    Device::from(HERE)
}

fn empty(elements: i64) -> Result<Tensor> {
    device::empty(&[elements], F32, HERE)
}

/// Returns the numbers of calls of these functions during `body`.
fn calls_of<const N: usize>(
    session: &Session,
    names: [&core::ffi::CStr; N],
    body: impl FnOnce() -> Result<()>,
) -> Result<[u64; N]> {
    let before = names.map(|name| session.driver.calls(name));
    body()?;
    let after = names.map(|name| session.driver.calls(name));
    Ok(core::array::from_fn(|index| after[index] - before[index]))
}

/// Runs an ignored test in a process of its own.
fn in_process(test: &str, pool: Option<&str>) {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", test]);
    if let Some(pool) = pool {
        command.env("FERRITE_DEVICE_POOL", pool);
    }
    let output = command.output().expect("a process");
    let text = std::string::String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Waits for the device, and checks that no command failed.
fn wait_for_all(session: &Session) -> Result<()> {
    // SAFETY: the type is that of the driver.
    let status =
        unsafe { session.driver.function::<extern "C" fn() -> i32>(c"cuCtxSynchronize")() };
    assert_eq!(status, 0, "a command failed");
    Ok(())
}

#[test]
fn a_thousand_tensors_synchronise_nothing() -> Result<()> {
    let Some(session) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    drop(empty(64)?);
    let names = [
        c"cuMemAllocFromPoolAsync",
        c"cuMemFreeAsync",
        c"cuMemAlloc_v2",
        c"cuMemFree_v2",
        c"cuCtxSynchronize",
        c"cuStreamSynchronize",
        c"cuEventRecord",
    ];
    let counts = calls_of(&session, names, || (0..1000).try_for_each(|_| empty(64).map(drop)))?;
    assert_eq!(counts, [1000, 1000, 0, 0, 0, 0, 0]);
    let all: u64 = session.driver.number(c"stand_in_all_calls");
    drop(empty(64)?);
    // The current context, whether the stream is being recorded, and the operation itself, twice.
    assert_eq!(session.driver.number(c"stand_in_all_calls") - all, 6);
    Ok(())
}

#[test]
fn memory_is_freed_after_the_commands_of_every_stream_of_ours() -> Result<()> {
    let Some(session) = Session::on_stand_in("commands of streams") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    let (one, other) = (Stream::new(device())?, Stream::new(device())?);
    let between = empty(64)?;
    one.wait_for(&Stream::default_of(device()))?;
    one.scope(|| add_one(&kernel, &x, &between, 1))??;
    other.wait_for(&one)?;
    other.scope(|| add_one(&kernel, &between, &y, 1))??;
    // Nobody waited: both kernels run later, and before the memory is freed.
    let names = [c"cuCtxSynchronize", c"cuMemFreeAsync", c"cuMemFree_v2"];
    let counts = calls_of(&session, names, || {
        drop(between);
        Ok(())
    })?;
    assert_eq!(counts, [0, 1, 0]);
    Stream::default_of(device()).synchronize()?;
    wait_for_all(&session)?;
    assert_eq!(values_of(&y)?, [3.0; 64]);
    Ok(())
}

#[test]
fn commands_of_other_streams_run_after_the_free() -> Result<()> {
    let Some(session) = Session::on_stand_in("commands of streams") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y, z) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?, on_device(&[0.0; 64])?);
    let stream = Stream::new(device())?;
    stream.scope(|| add_one(&kernel, &x, &z, 1))??;
    add_one(&kernel, &x, &y, 1)?;
    let pending = session.driver.pending();
    drop(empty(64)?);
    stream.scope(|| add_one(&kernel, &y, &z, 1))??;
    assert!(session.driver.pending() > pending, "nobody waited");
    // The free ordered the stream after the kernel that writes `y`.
    stream.synchronize()?;
    assert_eq!(values_of(&z)?, [3.0; 64]);
    Ok(())
}

#[test]
fn one_event_orders_the_streams() -> Result<()> {
    let Some(session) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    let stream = Stream::new(device())?;
    stream.scope(|| add_one(&kernel, &x, &y, 1))??;
    let all = || session.driver.number(c"stand_in_all_calls");
    let names = [c"cuEventCreate", c"cuEventRecord", c"cuStreamWaitEvent", c"cuEventDestroy_v2"];
    let before = all();
    let counts = calls_of(&session, names, || (0..100).try_for_each(|_| empty(64).map(drop)))?;
    assert_eq!(counts, [1, 200, 200, 0]);
    println!("{} calls for 100 tensors", all() - before);
    let [destroyed] = calls_of(&session, [c"cuEventDestroy_v2"], || {
        drop(stream);
        Ok(())
    })?;
    assert_eq!(destroyed, 1);
    Ok(())
}

#[test]
fn a_stream_that_is_destroyed_is_waited_for() -> Result<()> {
    let Some(session) = Session::on_stand_in("commands of streams") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, between) = (on_device(&[1.0; 64])?, empty(64)?);
    let stream = Stream::new(device())?;
    stream.scope(|| add_one(&kernel, &x, &between, 1))??;
    drop(stream);
    drop(between);
    Stream::default_of(device()).synchronize()?;
    wait_for_all(&session)
}

#[test]
fn a_stream_of_another_library_is_waited_for() {
    in_process("foreign_stream", None);
}

#[test]
#[ignore = "runs as a process: the device remembers the stream"]
fn foreign_stream() -> Result<()> {
    let Some(session) = Session::on_stand_in("foreign streams") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, between) = (on_device(&[1.0; 64])?, empty(64)?);
    let mut foreign = 0u64;
    // SAFETY: the types are those of the driver; the stream is set while it lives.
    unsafe {
        let create = session
            .driver
            .function::<unsafe extern "C" fn(*mut u64, u32) -> i32>(c"cuStreamCreate");
        assert_eq!(create(&mut foreign, 1), 0);
        let handle = core::ptr::with_exposed_provenance_mut(foreign as usize);
        stream::set(stream::DeviceKey::new(2, 0), handle)?;
        add_one(&kernel, &x, &between, 1)?;
        stream::set(stream::DeviceKey::new(2, 0), null())?;
        let destroy =
            session.driver.function::<unsafe extern "C" fn(u64) -> i32>(c"cuStreamDestroy_v2");
        assert_eq!(destroy(foreign), 0);
    }
    let [waits] = calls_of(&session, [c"cuCtxSynchronize"], || {
        drop(between);
        Ok(())
    })?;
    assert_eq!(waits, 1);
    wait_for_all(&session)
}

#[test]
fn memory_that_is_freed_in_a_recording_waits_for_its_end() -> Result<()> {
    let Some(session) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    let mut others = vec![empty(64)?, empty(64)?];
    let frees = || session.driver.calls(c"cuMemFreeAsync");
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
    let Some(_session) = Session::on_stand_in("recordings") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
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
    let Some(session) = Session::on_stand_in("limited memory") else { return Ok(()) };
    device().release_unused_memory()?;
    session.driver.limit_memory(1 << 20);
    let made = (|| {
        drop([empty(100 << 10)?, empty(100 << 10)?]);
        // The pool keeps 800 KiB; another allocation of the driver needs 500.
        let trims = [c"cuMemPoolTrimTo", c"cuCtxSynchronize"];
        let workspace = || {
            let workspace = ferrite_core::call::backend::alloc_workspace(2, 0, 500 << 10)?;
            // SAFETY: the workspace is freed once.
            unsafe { ferrite_core::call::backend::free_workspace(2, 0, workspace) }
        };
        // The stream takes its workspaces with it.
        let on_stream = || Stream::new(device())?.scope(workspace)?;
        assert_eq!(calls_of(&session, trims, on_stream)?, [1, 1]);
        let names = [c"cuMemPoolTrimTo", c"cuMemAllocFromPoolAsync"];
        let refused = || {
            refused(empty(1 << 20), "MemoryError");
            Ok(())
        };
        assert_eq!(calls_of(&session, names, refused)?, [1, 2], "tried twice");
        empty(10 << 10).map(drop)
    })();
    session.driver.limit_memory(256 << 20);
    made
}

#[test]
fn unused_memory_goes_back_on_request() -> Result<()> {
    let Some(session) = Session::on_stand_in("free memory") else { return Ok(()) };
    let free = || {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: the type is that of the driver.
        let status =
            unsafe {
                session.driver.function::<unsafe extern "C" fn(*mut usize, *mut usize) -> i32>(
                    c"cuMemGetInfo_v2",
                )(&mut free, &mut total)
            };
        assert_eq!(status, 0);
        free
    };
    device().release_unused_memory()?;
    let before = free();
    drop(empty(1 << 20)?);
    device().synchronize()?;
    assert_eq!(free(), before - (4 << 20), "the pool keeps it");
    device().release_unused_memory()?;
    assert_eq!(free(), before);
    Ok(())
}

#[test]
fn the_pool_can_be_turned_off() {
    in_process("without_pool", Some("0"));
}

#[test]
#[ignore = "runs as a process with an environment variable"]
fn without_pool() -> Result<()> {
    let Some(session) = Session::on_stand_in("counts of calls") else { return Ok(()) };
    let names = [c"cuMemPoolCreate", c"cuMemAllocFromPoolAsync", c"cuMemAlloc_v2", c"cuMemFree_v2"];
    let counts = calls_of(&session, names, || empty(64).map(drop))?;
    assert_eq!(counts, [0, 0, 1, 1]);
    device().release_unused_memory()
}

//! Tests of recorded commands that CUDA and ROCm pass. The program names its driver `driver`.

use core::cell::Cell;

use ferrite_alloc_ext::device::{self, Device, Graph, Stream};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::{Any, Function, Tensor};

use super::driver::*;

pub fn device() -> Device {
    Device::from(HERE)
}

pub fn adding() -> Result<(Function, Tensor, Tensor)> {
    Ok((adding_kernel()?, on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?))
}

pub fn write(values: &[f32], to: &Tensor) -> Result<()> {
    copy(&on(HERE, values)?, to)?;
    wait()
}

/// Adds two to `x` by way of a workspace.
fn add_through_workspace(kernel: &Function, x: &Tensor, y: &Tensor) -> Result<()> {
    let workspace = alloc_workspace(HERE.device_type, 0, 256)?;
    // SAFETY: kernels that get the address find the memory of a tensor or workspace there.
    let pointer =
        Any::from(unsafe { ferrite_core::value::convert::OpaquePtr::new(workspace.as_ptr()) });
    kernel.call_packed(&[data(x).view(), pointer.view(), 1i64.into(), 64i64.into()])?;
    kernel.call_packed(&[pointer.view(), data(y).view(), 1i64.into(), 64i64.into()])?;
    // SAFETY: the workspace is freed once.
    unsafe { free_workspace(HERE.device_type, 0, workspace) }
}

#[test]
fn recorded_commands_run_at_each_launch() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let calls = Cell::new(0);
    let (result, graph) = Graph::record(device(), || {
        calls.set(calls.get() + 1);
        add_one(&kernel, &x, &y, 1)?;
        add_one(&kernel, &y, &y, 1)?;
        Ok(calls.get())
    })?;
    let graph = graph?;
    assert_eq!((result, calls.get()), (2, 2));
    assert_eq!(values_of(&y)?, [3.0; 64], "the first call ran");
    for value in [10.0, 20.0] {
        write(&[value; 64], &x)?;
        // SAFETY: the tensors outlive the commands.
        unsafe { graph.launch()? };
        assert_eq!(values_of(&y)?, [value + 2.0; 64]);
    }
    assert_eq!(calls.get(), 2);
    Ok(())
}

#[test]
fn a_graph_is_queued_on_the_current_stream() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let graph = Graph::record(device(), || add_one(&kernel, &x, &y, 1))?.1?;
    let stream = Stream::new(device())?;
    stream.scope(|| {
        add_one(&kernel, &x, &x, 1)?;
        // SAFETY: the tensors outlive the commands.
        unsafe { graph.launch()? };
        add_one(&kernel, &y, &y, 1)
    })??;
    stream.synchronize()?;
    assert_eq!(values_of(&y)?, [4.0; 64]);
    Ok(())
}

#[test]
fn what_cannot_be_recorded_has_a_reason_and_its_first_result() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let calls = Cell::new(0);
    let (result, graph) = Graph::record(device(), || {
        calls.set(calls.get() + 1);
        add_one(&kernel, &x, &y, 1)?;
        let made = device::empty(&[64], F32, HERE)?;
        add_one(&kernel, &y, &made, 1)?;
        Ok((calls.get(), made))
    })?;
    let reason = graph.map(drop).expect_err("memory was allocated");
    let text = std::string::String::from_utf8_lossy(reason.message_bytes()).into_owned();
    assert!(text.contains(NOT_RECORDED), "{text}");
    assert_eq!((result.0, values_of(&result.1)?), (1, vec![3.0; 64]));
    // The device still works, and records.
    Graph::record(device(), || add_one(&kernel, &x, &y, 1))?.1.map(drop)
}

#[test]
fn errors_of_the_first_call_are_returned() -> Result<()> {
    let _session = Session::begin();
    let failing = || -> Result<()> { ferrite_core::plain_bail!(VALUE_ERROR, "no") };
    let error = Graph::record(device(), failing).map(drop).expect_err("the call fails");
    assert_eq!((error.kind_bytes(), error.message_bytes()), (&b"ValueError"[..], &b"no"[..]));
    assert!(!Graph::is_recording(device())?);
    Ok(())
}

#[test]
fn a_recording_sees_that_it_is_one() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let (is_recording, graph) = Graph::record(device(), || {
        add_one(&kernel, &x, &y, 1)?;
        Graph::is_recording(device())
    })?;
    graph?;
    assert!(is_recording && !Graph::is_recording(device())?);
    Ok(())
}

#[test]
fn workspaces_of_a_graph_are_reserved_for_it() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let add_twice = || add_through_workspace(&kernel, &x, &y);
    let graph = Graph::record(device(), add_twice)?.1?;
    let stream = Stream::new(device())?;
    stream.scope(add_twice)??; // takes a workspace of its own
    // SAFETY: the tensors outlive the commands.
    stream.scope(|| unsafe { graph.launch() })??;
    stream.synchronize()?;
    assert_eq!(values_of(&y)?, [3.0; 64]);
    Ok(())
}

#[test]
fn a_device_out_of_memory_keeps_the_workspaces_of_graphs() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("limited memory") else { return Ok(()) };
    let (kernel, x, y) = adding()?;
    let graph = Graph::record(device(), || add_through_workspace(&kernel, &x, &y))?.1?;
    driver.limit_memory(1 << 20);
    let error =
        alloc_workspace(HERE.device_type, 0, 1 << 30).map(drop).expect_err("so much is not there");
    driver.limit_memory(256 << 20);
    assert_eq!(error.kind_bytes(), b"MemoryError");
    write(&[5.0; 64], &x)?;
    // SAFETY: the tensors outlive the commands.
    unsafe { graph.launch()? };
    assert_eq!(values_of(&y)?, [7.0; 64]);
    Ok(())
}

#[test]
fn other_threads_use_the_default_stream_during_a_recording() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let graph = Graph::record(device(), || {
        add_one(&kernel, &x, &y, 1)?;
        std::thread::scope(|scope| {
            let made = || {
                let made = on(HERE, &[1.0; 64])?;
                add_one(&kernel, &made, &made, 1)?;
                wait()
            };
            scope.spawn(made).join().expect("no panic")
        })?;
        add_one(&kernel, &y, &y, 1)
    })?;
    // SAFETY: the tensors outlive the commands.
    unsafe { graph.1?.launch()? };
    wait()?;
    assert_eq!(values_of(&y)?, [3.0; 64]);
    Ok(())
}

//! Tests recorded commands of ROCm on a real driver if a GPU is found, otherwise on the stand-in.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

mod support;

use core::cell::Cell;

use ferrite_alloc_ext::device::{self, Device, Graph, Stream};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::{Any, Function, Tensor};
use support::rocm::*;

fn device() -> Device {
    Device::from(HERE)
}

fn adding() -> Result<(Function, Tensor, Tensor)> {
    Ok((kernel("add_one_kernel")?, on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?))
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
        Ok((calls.get(), Graph::is_recording(device())?))
    })?;
    let graph = graph?;
    assert_eq!(result, (2, true));
    assert_eq!(values_of(&y)?, [3.0; 64], "the first call ran");
    for value in [10.0, 20.0] {
        copy(&on(HERE, &[value; 64])?, &x)?;
        // SAFETY: the tensors outlive the commands.
        unsafe { graph.launch()? };
        wait()?;
        assert_eq!(values_of(&y)?, [value + 2.0; 64]);
    }
    assert_eq!(calls.get(), 2);
    assert!(!Graph::is_recording(device())?);
    Ok(())
}

#[test]
fn allocations_are_not_recorded() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let (made, graph) = Graph::record(device(), || {
        add_one(&kernel, &x, &y, 1)?;
        let made = device::empty(&[64], F32, HERE)?;
        add_one(&kernel, &y, &made, 1)?;
        Ok(made)
    })?;
    let text = message(&graph.map(drop).expect_err("memory was allocated"));
    assert!(text.contains("hipMalloc failed"), "{text}");
    assert_eq!(values_of(&made)?, [3.0; 64], "the result of the first call");
    // The device still works, and records.
    Graph::record(device(), || add_one(&kernel, &x, &y, 1))?.1.map(drop)
}

#[test]
fn workspaces_of_a_graph_are_reserved_for_it() -> Result<()> {
    let _session = Session::begin();
    let (kernel, x, y) = adding()?;
    let add_twice = || {
        let workspace = alloc_workspace(10, 0, 256)?;
        // SAFETY: kernels that get the address find the memory of a tensor or workspace there.
        let pointer =
            Any::from(unsafe { ferrite_core::value::convert::OpaquePtr::new(workspace.as_ptr()) });
        kernel.call_packed(&[data(&x).view(), pointer.view(), 1i64.into(), 64i64.into()])?;
        kernel.call_packed(&[pointer.view(), data(&y).view(), 1i64.into(), 64i64.into()])?;
        // SAFETY: the workspace is freed once.
        unsafe { free_workspace(10, 0, workspace) }
    };
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

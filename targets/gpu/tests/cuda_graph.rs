//! Tests recorded commands of CUDA on a real driver if a GPU is found, otherwise on the stand-in.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

#[path = "common/graph.rs"]
mod graph;
mod support;

use ferrite_alloc_ext::device::{self, Graph};
use ferrite_core::Tensor;
use ferrite_core::error::Result;
use graph::{device, write};
use support::cuda as driver;
use support::cuda::*;

#[test]
fn copies_that_use_main_memory_are_recorded_for_unsafe_launches_only() -> Result<()> {
    let _session = Session::begin();
    let [x, y] = [on_device(&[1.0; 64])?, on_device(&[0.0; 64])?];
    let (pinned, host) =
        (device::empty(&[64], F32, PINNED)?, Tensor::from_slice(&[3.0f32; 64], &[64])?);
    let queue = |from: &Tensor, to: &Tensor| {
        let copy = ferrite_core::names::global_table::get(b"runtime.TVMTensorCopyFromTo")?;
        copy.expect("the function of the runtime").call_packed(&[from.into(), to.into()]).map(drop)
    };
    for (from, to) in [(&pinned, &x), (&x, &pinned), (&host, &x), (&x, &host)] {
        let (_, graph) = Graph::record_device_only(device(), || queue(from, to))?;
        let reason = graph.map(drop).expect_err("the copy would use main memory later");
        assert_eq!(reason.kind_bytes(), b"RuntimeError");
        assert!(reason.message_bytes().starts_with(b"A command that uses main memory"));
    }
    // Copies within the device are recorded.
    let graph = Graph::record_device_only(device(), || queue(&x, &y))?.1?;
    write(&[4.0; 64], &x)?;
    // SAFETY: the tensors outlive the commands, and are on the device.
    unsafe { graph.launch()? };
    assert_eq!(values_of(&y)?, [4.0; 64]);
    // An unsafe launch may use main memory.
    let graph = Graph::record(device(), || queue(&pinned, &y))?.1?;
    pinned.borrow_mut::<f32>()?.fill(5.0);
    // SAFETY: the tensors outlive the commands, and nobody uses the pinned one before these ran.
    unsafe { graph.launch()? };
    assert_eq!(values_of(&y)?, [5.0; 64]);
    Ok(())
}

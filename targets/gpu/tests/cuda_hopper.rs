//! Tests what only a GPU of the Hopper generation does: tensor maps, clusters, and a context after
//! a kernel that failed. The stand-in for the driver has the calls, but no such hardware.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use core::ptr;

use ferrite_alloc_ext::device;
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Function, String, Tensor};
use support::cuda::*;

const SOURCE: &[u8] = include_bytes!("support/hopper.cu");
const HOPPER: &str = "9.0";

/// A `CUtensorMap`.
#[repr(C, align(64))]
struct TensorMap([u64; 16]);

/// Loads a kernel of the source with one pointer, or one pointer and a tensor map.
fn kernel(name: &str, has_map: bool, tags: &[&str]) -> Result<Function> {
    let (types, extra): (&[_], &[u32]) =
        if has_map { (&[HANDLE; 2], &[0, 1]) } else { (&[HANDLE], &[0]) };
    kernel_of(payload_with_extra_tags("cuda", SOURCE, name, types, tags, extra)?.as_bytes(), name)
}

fn numbers(values: &[i64]) -> Result<Tensor> {
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, I64, HERE)?);
    copy(&host, &there).and_then(|()| wait())?;
    Ok(there)
}

fn numbers_of(there: &Tensor) -> Result<Vec<i64>> {
    let host = device::empty(there.shape(), I64, CPU)?;
    copy(there, &host).and_then(|()| wait())?;
    Ok(host.as_slice::<i64>()?.to_vec())
}

#[test]
fn a_tile_is_copied_by_a_tensor_map() -> Result<()> {
    let Some(_session) = Session::on_gpu("tensor maps", HOPPER) else { return Ok(()) };
    // 32 rows of 64 elements of 16 bits: 16 numbers each. The tile is the rows from 16 on.
    let x = numbers(&(0..512).collect::<Vec<_>>())?;
    let out = numbers(&[0; 256])?;
    let mut map = TensorMap([0; 16]);
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let place = Any::from(unsafe { OpaquePtr::new(ptr::from_mut(&mut map).cast()) });
    let (text, address) = (String::new("float16")?, data(&x));
    let mut args: Vec<AnyView<'_>> =
        vec![place.view(), (&text).into(), 2i64.into(), address.view()];
    args.extend(
        [64i64, 32, 128, 64, 16, 1, 1, 0, 0, 2, 0].iter().map(|number| AnyView::from(*number)),
    );
    global("runtime.cuTensorMapEncodeTiled")?.call_packed(&args)?;
    kernel("copy_tile", true, &[])?.call_packed(&[(&out).into(), place.view()])?;
    assert_eq!(numbers_of(&out)?, (256..512).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn blocks_of_a_cluster_know_its_size() -> Result<()> {
    let Some(_session) = Session::on_gpu("clusters", HOPPER) else { return Ok(()) };
    let out = numbers(&[0; 16])?;
    // A cluster of 16 blocks is more than every device has, which the kernel is allowed first.
    for size in [1i64, 2, 8, 16] {
        let kernel = kernel("size_of_cluster", false, &["blockIdx.x", "clusterCtaIdx.x"])?;
        kernel.call_packed(&[(&out).into(), 16i64.into(), size.into()])?;
        assert_eq!(numbers_of(&out)?, [size; 16], "clusters of {size}");
    }
    let kernel = kernel("size_of_cluster", false, &["blockIdx.x", "clusterCtaIdx.x"])?;
    let text =
        refused(kernel.call_packed(&[(&out).into(), 16i64.into(), 3i64.into()]), "InternalError");
    assert!(text.starts_with("CUDALaunch Error: CUDA_ERROR_INVALID_"), "{text}");
    Ok(())
}

#[test]
fn cooperative_and_dependent_launches_run() -> Result<()> {
    let Some(_session) = Session::on_gpu("attributes of launches", HOPPER) else { return Ok(()) };
    let out = numbers(&[0; 16])?;
    for tag in ["tirx.use_programtic_dependent_launch", "tirx.use_cooperative_launch"] {
        let kernel = kernel("size_of_grid", false, &["blockIdx.x", tag])?;
        kernel.call_packed(&[(&out).into(), 16i64.into()])?;
        assert_eq!(numbers_of(&out)?, [16; 16], "{tag}");
    }
    let kernel = kernel("size_of_grid", false, &["blockIdx.x", "tirx.use_cooperative_launch"])?;
    let text = refused(kernel.call_packed(&[(&out).into(), (1i64 << 20).into()]), "InternalError");
    assert!(text.contains("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"), "{text}");
    Ok(())
}

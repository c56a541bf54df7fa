//! Tests that a launch allocates no more than its wgpu calls. wgpu uses Rust's global allocator,
//! the library and the driver use C's; both are counted on the launching thread. A program of its
//! own, since it replaces both allocators.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

#[path = "support/wgpu_floor.rs"]
mod wgpu_floor;

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ffi::c_void;
use std::alloc::System;

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, String};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::webgpu::WebGpu;

use wgpu_floor::Floor;

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 15, device_id: 0 };
const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/webgpu/module.bin");
const LAUNCHES: usize = 200;

std::thread_local! {
    /// Number of blocks that this thread allocated from C, and how many of them through Rust's
    /// allocator.
    static COUNTS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn count(of_c: usize, of_rust: usize) {
    let _ = COUNTS.try_with(|counts| {
        let (c, rust) = counts.get();
        counts.set((c + of_c, rust + of_rust));
    });
}

struct Counting;

// SAFETY: forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Small alignments come from `malloc` below, which counts them.
        if layout.align() <= 16 {
            count(0, 1);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
}

/// Replaces C's function in this program.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    count(1, 0);
    // SAFETY: any size is valid.
    unsafe { __libc_malloc(size) }
}

/// Returns the number of blocks allocated from C and from Rust by [`LAUNCHES`] launches.
fn counted(mut launch: impl FnMut(usize) -> Result<()>) -> Result<(usize, usize)> {
    // Warms up, so that growing lists have reached their size.
    (0..LAUNCHES).try_for_each(&mut launch)?;
    let (c, rust) = COUNTS.get();
    (0..LAUNCHES).try_for_each(&mut launch)?;
    Ok((COUNTS.get().0 - c, COUNTS.get().1 - rust))
}

fn main() -> Result<()> {
    ferrite_gpu::install();
    WebGpu.set_device(0)?;
    let module = DeviceModule::<WebGpu>::load(Bytes::new(FIXTURE)?)?;
    let kernel = module.get_function(&String::new("axpy_dyn_kernel")?, false)?.expect("the kernel");
    let tensors = [device::empty(&[1024], F32, HERE)?, device::empty(&[1024], F32, HERE)?];
    let [x, y] = [&tensors[0], &tensors[1]].map(|tensor| {
        // SAFETY: kernels that get the address find the memory of a tensor or workspace there.
        Any::from(unsafe { ferrite_core::value::convert::OpaquePtr::new(tensor.dl_tensor().data) })
    });
    let floor = Floor::new("axpy_dyn_kernel");
    for (case, step) in [("the same arguments", 0), ("a number that changes", 1)] {
        let alone = counted(|index| {
            if step != 0 {
                floor.write([2f32.to_bits(), index as u32, 64, 1]);
            }
            floor.launch();
            Ok(())
        })?;
        let library = counted(|index| {
            let (k, n, one, threads) =
                (index as i64 * step, 64i64.into(), 1i64.into(), 64i64.into());
            kernel
                .call_packed(&[x.view(), y.view(), 2f64.into(), k.into(), n, one, threads])
                .map(drop)
        })?;
        let of_c = |(c, rust): (usize, usize)| c - rust;
        println!(
            "{LAUNCHES} launches with {case}: {} blocks of C, {} by wgpu alone; of wgpu itself {} and {}",
            of_c(library),
            of_c(alone),
            library.1,
            alone.1
        );
        assert!(alone.1 >= LAUNCHES, "Rust's allocator is counted");
        // One block per launch would add LAUNCHES blocks. Lists of the driver grow occasionally.
        assert!(of_c(library) < of_c(alone) + LAUNCHES / 4, "{case}");
    }
    // Control: allocations of the library are counted.
    let before = COUNTS.get();
    drop(String::new("a text that is too long to be stored in the value itself")?);
    let after = COUNTS.get();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1, 0));
    println!("allocations of launches: ok");
    Ok(())
}

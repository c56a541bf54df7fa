//! Compares the time of a launch through the library with that of its wgpu calls.
//!
//!     cargo run --release -p ferrite-ffi-gpu --features webgpu --example webgpu_launch_cost
//!
//! The kernel is add_one of the fixtures, with one block. The two sides alternate: each queues the
//! same number of launches and waits for them at the end of the round; the shortest round counts.
//! The first table passes the same arguments each time. The second changes a number, which is
//! written to a buffer before each launch.
#![allow(clippy::expect_used, reason = "a measurement fails by a panic")]

#[path = "../tests/support/wgpu_floor.rs"]
mod wgpu_floor;

use std::time::{Duration, Instant};

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::value::convert::{AnyCompatible, OpaquePtr};
use ferrite_core::{Any, Bytes, Function, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::webgpu::WebGpu;

use wgpu_floor::Floor;

const LAUNCHES: u32 = 500;
const ROUNDS: usize = 15;

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 15, device_id: 0 };
const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/webgpu/module.bin");

/// A kernel of the fixtures and its two buffers, launched through the library.
struct Library {
    kernel: Function,
    x: Tensor,
    y: Tensor,
}

impl Library {
    fn new(name: &str) -> Result<Library> {
        let module = DeviceModule::<WebGpu>::load(Bytes::new(FIXTURE)?)?;
        let kernel = module.get_function(&String::new(name)?, false)?.expect("the kernel");
        Ok(Library {
            kernel,
            x: device::empty(&[1024], F32, HERE)?,
            y: device::empty(&[1024], F32, HERE)?,
        })
    }

    fn buffers(&self) -> (Any, Any) {
        // SAFETY: the kernels get the numbers of the library's own buffers.
        let number =
            |tensor: &Tensor| unsafe { OpaquePtr::new(tensor.dl_tensor().data) }.into_any();
        (number(&self.x), number(&self.y))
    }

    fn wait(&self) -> Result<()> {
        // SAFETY: null is the device's default stream.
        unsafe { WebGpu.synchronize(0, core::ptr::null_mut()) }
    }
}

/// Returns the shortest round of each side. The rounds alternate between the sides.
fn compare(
    case: &str,
    mut floor: impl FnMut() -> Result<()>,
    mut library: impl FnMut() -> Result<()>,
) -> Result<()> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let sides: [&mut dyn FnMut() -> Result<()>; 2] = [&mut floor, &mut library];
        for (side, best) in sides.into_iter().zip(&mut best) {
            let start = Instant::now();
            side()?;
            *best = (*best).min(start.elapsed());
        }
    }
    let [floor, library] = best.map(|best| best.as_secs_f64() * 1e6 / f64::from(LAUNCHES));
    println!(
        "{case}: microseconds per launch: wgpu {floor:.2}, library {library:.2}, ratio {:.3}",
        library / floor
    );
    Ok(())
}

fn same_arguments() -> Result<()> {
    let library = Library::new("add_one_kernel")?;
    let floor = Floor::new("add_one_kernel");
    floor.write([1, 0, 0, 0]);
    let (x, y) = library.buffers();
    compare(
        "same arguments",
        || {
            (0..LAUNCHES).for_each(|_| floor.launch());
            floor.wait();
            Ok(())
        },
        || {
            for _ in 0..LAUNCHES {
                library.kernel.call_packed(&[x.view(), y.view(), 1i64.into(), 64i64.into()])?;
            }
            library.wait()
        },
    )
}

fn changing_number() -> Result<()> {
    let library = Library::new("axpy_dyn_kernel")?;
    let floor = Floor::new("axpy_dyn_kernel");
    let (x, y) = library.buffers();
    compare(
        "changing number",
        || {
            for k in 0..LAUNCHES {
                floor.write([2f32.to_bits(), k, 64, 1]);
                floor.launch();
            }
            floor.wait();
            Ok(())
        },
        || {
            for k in 0..LAUNCHES {
                let (k, n, one) = (i64::from(k), 64i64.into(), 1i64.into());
                library.kernel.call_packed(&[
                    x.view(),
                    y.view(),
                    2f64.into(),
                    k.into(),
                    n,
                    one,
                    64i64.into(),
                ])?;
            }
            library.wait()
        },
    )
}

fn main() -> Result<()> {
    ferrite_gpu::install();
    WebGpu.set_device(0)?;
    same_arguments()?;
    changing_number()
}

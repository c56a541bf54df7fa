//! The kinds of devices whose drivers run on this machine without a GPU, with what their tests
//! need.

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, Function, Tensor};
use ferrite_gpu::driver::Driver;
use ferrite_gpu::module::DeviceModule;
#[cfg(feature = "opencl")]
use ferrite_gpu::opencl::OpenCl;
use ferrite_gpu::payload::Writer;
#[cfg(feature = "vulkan")]
use ferrite_gpu::vulkan::Vulkan;
#[cfg(feature = "webgpu")]
use ferrite_gpu::webgpu::WebGpu;

use super::calls::*;

/// A row of the table of kinds.
pub trait Kind: Driver + Backend {
    /// The back end.
    const BACKEND: Self;
    /// Name of the kind in messages.
    const NAME: &'static str;
    /// Module from TVM's compiler.
    const FIXTURE: &'static [u8];
    /// The first device.
    const HERE: DLDevice = DLDevice { device_type: Self::DEVICE_TYPE, device_id: 0 };

    /// Loads a module whose kernel `k` adds a number to each element of a buffer, in blocks of 8,
    /// launched along x.
    fn load_add() -> Result<Module>;
}

pub fn install() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
}

pub fn load<K: Kind>(bytes: &[u8]) -> Result<Module> {
    install();
    K::BACKEND.set_device(0)?;
    DeviceModule::<K>::load(Bytes::new(bytes)?)
}

/// Returns a tensor on the first device with these values.
pub fn on_device<K: Kind>(values: &[f32]) -> Result<Tensor> {
    install();
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, F32, K::HERE)?);
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(host.dl_tensor(), there.dl_tensor(), core::ptr::null_mut())? };
    Ok(there)
}

pub fn values_of(tensor: &Tensor) -> Result<Vec<f32>> {
    let host = device::empty(tensor.shape(), F32, CPU)?;
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(tensor.dl_tensor(), host.dl_tensor(), core::ptr::null_mut())? };
    Ok(host.as_slice::<f32>()?.to_vec())
}

/// Launches the kernel of [`Kind::load_add`].
pub fn add(kernel: &Function, x: &Tensor, y: &Tensor, n: i64, blocks: i64) -> Result<Any> {
    kernel.call_packed(&[data(x).view(), data(y).view(), n.into(), blocks.into(), 8i64.into()])
}

#[cfg(feature = "opencl")]
impl Kind for OpenCl {
    const BACKEND: Self = OpenCl;
    const NAME: &'static str = "OpenCL";
    const FIXTURE: &'static [u8] =
        include_bytes!("../../../../tests/programs/device/opencl/module.bin");

    fn load_add() -> Result<Module> {
        opencl_module("cl", OPENCL_ADD)
    }
}

#[cfg(feature = "opencl")]
pub const OPENCL_ADD: &str = "// Function: k\n\
    __kernel void k(__global float* x, __global float* y, int n) { int i = get_global_id(0); y[i] = x[i] + n; }\n";

/// Loads a module with one kernel `k`, which has two buffers and a number, and is launched along x.
#[cfg(feature = "opencl")]
pub fn opencl_module(format: &str, code: &str) -> Result<Module> {
    let tags = ["blockIdx.x", "threadIdx.x"];
    let payload = payload_of(format, code.as_bytes(), "k", &[HANDLE, HANDLE, I32], &tags)?;
    load::<OpenCl>(payload.as_bytes())
}

#[cfg(feature = "vulkan")]
impl Kind for Vulkan {
    const BACKEND: Self = Vulkan;
    const NAME: &'static str = "Vulkan";
    const FIXTURE: &'static [u8] =
        include_bytes!("../../../../tests/programs/device/vulkan/module.bin");

    fn load_add() -> Result<Module> {
        vulkan_module(&[HANDLE, HANDLE, I32], 0, VULKAN_ADD)
    }
}

#[cfg(feature = "vulkan")]
pub const VULKAN_ADD: &[u8] =
    include_bytes!("../../../../tests/programs/device/vulkan/shaders/add.spv");

/// Loads a module with one kernel `k`, which has these parameters and is launched along x.
#[cfg(feature = "vulkan")]
pub fn vulkan_module(parameters: &[DLDataType], flags: u32, code: &[u8]) -> Result<Module> {
    let mut payload = Writer::new();
    payload.text(b"vulkan")?;
    one_kernel(&mut payload, parameters, &[])?;
    payload.shader(flags, code)?;
    load::<Vulkan>(payload.finish()?.as_bytes())
}

#[cfg(feature = "webgpu")]
impl Kind for WebGpu {
    const BACKEND: Self = WebGpu;
    const NAME: &'static str = "WebGPU";
    const FIXTURE: &'static [u8] =
        include_bytes!("../../../../tests/programs/device/webgpu/module.bin");

    fn load_add() -> Result<Module> {
        webgpu_module(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0,1]"], WEBGPU_ADD.as_bytes())
    }
}

/// Source in TVM's form: `y[i] = x[i] + n`, in blocks of 8.
#[cfg(feature = "webgpu")]
pub const WEBGPU_ADD: &str = "
@group(0) @binding(0) var<storage, read> x : array<f32>;
@group(0) @binding(1) var<storage, read_write> y : array<f32>;
struct Scalars { n: i32, blocks: u32 }
@group(0) @binding(2) var<uniform> scalars : Scalars;
@compute @workgroup_size(8, 1, 1)
fn k(@builtin(workgroup_id) block : vec3<u32>, @builtin(num_workgroups) grid : vec3<u32>,
    @builtin(local_invocation_id) thread : vec3<u32>) {
  let b = block.z * grid.x + block.x;
  if (b >= scalars.blocks) { return; }
  y[b * 8u + thread.x] = x[b * 8u + thread.x] + f32(scalars.n);
}
";

/// Loads a module with one kernel `k`, launched along x.
#[cfg(feature = "webgpu")]
pub fn webgpu_module(types: &[DLDataType], tags: &[&str], code: &[u8]) -> Result<Module> {
    let mut payload = Writer::new();
    one_kernel(&mut payload, types, tags)?;
    payload.text(code)?;
    load::<WebGpu>(payload.finish()?.as_bytes())
}

/// Writes the table of functions, and the name of the shader that follows.
fn one_kernel(payload: &mut Writer, types: &[DLDataType], tags: &[&str]) -> Result<()> {
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(types.len())?;
    types.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(2 + tags.len())?;
    ["blockIdx.x", "threadIdx.x"]
        .iter()
        .chain(tags)
        .try_for_each(|tag| payload.text(tag.as_bytes()))?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")
}

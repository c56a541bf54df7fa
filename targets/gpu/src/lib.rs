//! Device modules: kernels that TVM compiled for GPUs, and the devices on which they run.
//!
//! | module | content |
//! |---|---|
//! | [`payload`] | serialised form of device modules |
//! | [`launch`] | conversion of packed arguments to parameter values and work sizes |
//! | [`driver`] | [`Driver`](driver::Driver), the interface between device modules and a driver |
//! | [`module`] | device modules of all kinds, and their kernels |
//! | [`create`] | modules from the compiler's objects, `ffi.Module.create.KIND` |
//! | [`opencl_source`] | OpenCL source, split into a program for each kernel |
//! | [`elf`] | validation of ELF files |
//! | [`spirv`] | validation of SPIR-V shaders against their kernels |
//! | [`library`] | driver libraries as tables of function pointers |
//! | [`runtime`] | global functions `__tvm_set_device` and `runtime.*` |
//! | [`functions`] | global functions of the build |
//! | [`forks`] | fork protection of drivers |
//! | [`attribute_text`] | text form of device attributes |
//! | `variable` | environment variables |
//! | `owned` | fallible boxes |
//! | `open_once` | drivers opened on first use |
//! | `set_once` | values that are set once, without a lock |
//! | [`wgsl_source`] | text descriptions of WebGPU modules |
//! | `workspace` | pool of device workspaces |
//! | `allocation` | reuse of device memory without a wait |
//! | `recording` | recording of commands as graphs |
//! | `opencl` | OpenCL back end |
//! | `cuda` | CUDA back end |
//! | `rocm` | ROCm back end |
//! | `metal` | Metal back end |
//! | `webgpu` | WebGPU back end |
//! | `vulkan` | Vulkan back end |
//!
//! Each kind is a feature. It consists of a [`Driver`](driver::Driver) for its modules and a
//! [`Backend`] for its devices. A driver library is opened on the first launch of a module of the
//! kind, or on the first use of one of its devices.
//!
//! Kinds need the feature `std`. Without it, the crate has the parts that need no operating system,
//! for back ends of other crates.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

#[cfg(any(feature = "cuda", feature = "opencl", feature = "rocm", feature = "vulkan"))]
mod allocation;
pub mod attribute_text;
pub mod create;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod driver;
pub mod elf;
pub mod forks;
pub mod functions;
pub mod launch;
#[cfg(feature = "std")]
pub mod library;
#[cfg(feature = "metal")]
pub mod metal;
pub mod module;
#[cfg(any(feature = "cuda", feature = "rocm", all(feature = "metal", target_vendor = "apple")))]
mod open_once;
#[cfg(feature = "opencl")]
pub mod opencl;
pub mod opencl_source;
mod owned;
pub mod payload;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod recording;
#[cfg(feature = "rocm")]
pub mod rocm;
pub mod runtime;
#[cfg(feature = "std")]
mod set_once;
pub mod spirv;
#[cfg(any(feature = "__variables", all(feature = "metal", target_vendor = "apple")))]
mod variable;
#[cfg(feature = "vulkan")]
pub mod vulkan;
#[cfg(feature = "webgpu")]
pub mod webgpu;
pub mod wgsl_source;
#[cfg(any(feature = "__workspaces", all(feature = "metal", target_vendor = "apple")))]
pub mod workspace;

use ferrite_alloc_ext::device::{self, Backend};

/// Back ends of this build.
static BACKENDS: &[&dyn Backend] = &[
    #[cfg(feature = "opencl")]
    &opencl::OpenCl,
    #[cfg(feature = "cuda")]
    &cuda::Cuda,
    #[cfg(feature = "cuda")]
    &cuda::CudaHost,
    #[cfg(feature = "rocm")]
    &rocm::Rocm,
    #[cfg(feature = "rocm")]
    &rocm::RocmHost,
    #[cfg(feature = "metal")]
    &metal::Metal,
    #[cfg(feature = "webgpu")]
    &webgpu::WebGpu,
    #[cfg(feature = "vulkan")]
    &vulkan::Vulkan,
];

/// Registers the back ends of this build. Opens no driver. [`functions::install`] installs the
/// global functions.
///
/// ```
/// use ferrite_alloc_ext::device::{Device, DeviceTensor};
///
/// # fn main() -> ferrite_core::Result<()> {
/// ferrite_gpu::install();
/// for device in Device::all() {
///     println!("{device}: {:?}", device.name()?);
///     let tensor = DeviceTensor::from_slice(device, &[1.0f32, 2.0], &[2])?;
///     assert_eq!(*tensor.read::<f32>()?, [1.0, 2.0]);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Threads
/// Callable from any thread; consists of atomic stores.
pub fn install() {
    for backend in BACKENDS {
        // The device types of these back ends are within the table.
        let _ = device::register(backend);
    }
    device::install();
    #[cfg(feature = "std")]
    {
        runtime::workspaces::install();
        forks::install();
    }
}

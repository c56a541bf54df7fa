//! Device modules: kernels that TVM compiled for GPUs, and the devices that they run on.
//!
//! | module | holds |
//! |---|---|
//! | [`payload`] | the bytes of device modules, read and written |
//! | [`launch`] | packed arguments of kernels as values and work sizes |
//! | [`driver`] | [`Driver`](driver::Driver), the part of a kind that is its own |
//! | [`module`] | modules of every kind, and their kernels |
//! | [`create`] | modules from the compiler's objects, `ffi.Module.create.KIND` |
//! | [`opencl_source`] | OpenCL source, cut into a program for each kernel |
//! | [`elf`] | ELF files, checked before a driver reads them |
//! | [`spirv`] | the declarations of SPIR-V shaders, compared with their kernels |
//! | [`library`] | driver libraries, opened when they are first needed |
//! | [`runtime`] | the global functions `__tvm_set_device` and `runtime.*` |
//! | [`functions`] | the global functions of the build |
//! | [`forks`] | drivers do not survive a fork |
//! | [`attribute_text`] | attributes of devices that are texts |
//! | `open_once` | drivers that are opened when they are first needed |
//! | `workspace` | temporary memory of devices, kept from call to call |
//! | `opencl` | the OpenCL back end, a feature |
//! | `cuda` | the CUDA back end, a feature |
//! | `rocm` | the ROCm back end, a feature |
//! | `metal` | the Metal back end, a feature |
//! | `webgpu` | the WebGPU back end, a feature |
//! | `vulkan` | the Vulkan back end, a feature |
//!
//! Each kind is a feature. A kind is two things: a [`Driver`](driver::Driver) for its modules, and a
//! [`Backend`] for its devices. No driver library is opened before a module of the kind is
//! launched or a device of it is asked for.

pub mod attribute_text;
pub mod create;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod driver;
pub mod elf;
pub mod forks;
pub mod functions;
pub mod launch;
pub mod library;
#[cfg(feature = "metal")]
pub mod metal;
pub mod module;
#[cfg(any(feature = "rocm", all(feature = "metal", target_vendor = "apple")))]
mod open_once;
#[cfg(feature = "opencl")]
pub mod opencl;
pub mod opencl_source;
mod owned;
pub mod payload;
#[cfg(feature = "rocm")]
pub mod rocm;
pub mod runtime;
pub mod spirv;
#[cfg(any(feature = "__variables", all(feature = "metal", target_vendor = "apple")))]
mod variable;
#[cfg(feature = "vulkan")]
pub mod vulkan;
#[cfg(feature = "webgpu")]
pub mod webgpu;
#[cfg(any(feature = "__workspaces", all(feature = "metal", target_vendor = "apple")))]
mod workspace;

use ferrite_alloc_ext::device::{self, Backend};

/// The back ends of this build.
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

/// Makes the back ends of this build known. Opens no driver. Global functions are [`functions`]' to install.
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
/// Any; atomic stores.
pub fn install() {
    for backend in BACKENDS {
        // The types of these back ends are in the table's range.
        let _ = device::register(backend);
    }
    device::install();
    runtime::workspaces::install();
    forks::install();
}

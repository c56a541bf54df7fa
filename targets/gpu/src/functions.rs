//! Global functions of this build, registered as defaults: loaders and constructors of the modules
//! of each kind, and runtime functions. TVM's own runtime registers the same names.

use ferrite_core::names::defaults::{self, Defaults, Group, Wrap};

use crate::runtime;

/// Calls for the devices of another runtime are forwarded to it. Web pages have none.
const WRAP: Option<Wrap> = if cfg!(target_family = "wasm") { None } else { Some(runtime::wrap) };

/// Loaders of modules: `ffi.Module.load_from_bytes.KIND`.
pub const LOADERS: Group = Group {
    prefix: "ffi.Module.load_from_bytes.",
    functions: &[
        #[cfg(feature = "opencl")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.opencl", crate::opencl::OpenCl),
        #[cfg(feature = "cuda")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.cuda", crate::cuda::Cuda),
        #[cfg(feature = "rocm")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.hip", crate::rocm::Rocm),
        #[cfg(feature = "rocm")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.hsaco", crate::rocm::Rocm),
        #[cfg(feature = "metal")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.metal", crate::metal::Metal),
        #[cfg(feature = "webgpu")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.webgpu", crate::webgpu::WebGpu),
        #[cfg(feature = "vulkan")]
        crate::module_functions!(load "ffi.Module.load_from_bytes.vulkan", crate::vulkan::Vulkan),
    ],
    wrap: None,
};

/// Constructors of modules from the compiler's objects: `ffi.Module.create.KIND`.
pub const CONSTRUCTORS: Group = Group {
    prefix: "ffi.Module.create.",
    functions: &[
        #[cfg(feature = "opencl")]
        crate::module_functions!(create "ffi.Module.create.opencl", crate::opencl::OpenCl),
        #[cfg(feature = "cuda")]
        crate::module_functions!(create "ffi.Module.create.cuda", crate::cuda::Cuda),
        #[cfg(feature = "rocm")]
        crate::module_functions!(create "ffi.Module.create.rocm", crate::rocm::Rocm),
        #[cfg(feature = "metal")]
        crate::module_functions!(create "ffi.Module.create.metal", crate::metal::Metal),
        #[cfg(feature = "webgpu")]
        crate::module_functions!(create "ffi.Module.create.webgpu", crate::webgpu::WebGpu),
        #[cfg(feature = "vulkan")]
        crate::module_functions!(create "ffi.Module.create.vulkan", crate::vulkan::Vulkan),
    ],
    wrap: None,
};

/// `__tvm_set_device`, which host code calls before the first kernel.
pub const SET_DEVICE: Group =
    Group { prefix: runtime::SET_DEVICE, functions: &[runtime::SET_DEVICE_FUNCTION], wrap: WRAP };

/// `runtime.*`: functions through which TVM's Python package uses devices.
pub const RUNTIME: Group = Group { prefix: "runtime.", functions: runtime::FUNCTIONS, wrap: WRAP };

/// `runtime.*` specific to CUDA.
#[cfg(feature = "cuda")]
pub const CUDA: Group = Group { prefix: "runtime.", functions: crate::cuda::FUNCTIONS, wrap: None };

/// `ferrite.cublaslt.*`: matrix products by cuBLASLt.
#[cfg(feature = "cuda")]
pub const CUBLASLT: Group =
    Group { prefix: "ferrite.cublaslt.", functions: crate::cuda::CUBLASLT_FUNCTIONS, wrap: None };

/// `runtime.*` specific to ROCm.
#[cfg(feature = "rocm")]
pub const ROCM: Group = Group { prefix: "runtime.", functions: crate::rocm::FUNCTIONS, wrap: None };

/// `device_api.*`: functions through which TVM's Python package queries target properties of a
/// device.
pub const DEVICE_API: Group = Group {
    prefix: "device_api.",
    functions: &[
        #[cfg(feature = "vulkan")]
        crate::vulkan::TARGET_PROPERTY,
    ],
    wrap: None,
};

/// All groups of global functions.
pub const GROUPS: &[Group] = &[
    LOADERS,
    CONSTRUCTORS,
    SET_DEVICE,
    RUNTIME,
    DEVICE_API,
    #[cfg(feature = "cuda")]
    CUDA,
    #[cfg(feature = "cuda")]
    CUBLASLT,
    #[cfg(feature = "rocm")]
    ROCM,
];

/// Installs the functions in programs without the C library. The C library installs them together
/// with its own defaults.
pub fn install() {
    static DEFAULTS: Defaults = Defaults { groups: &[GROUPS] };
    defaults::install(&DEFAULTS);
}

/// Expands to the table entry of the loader or the constructor of a kind.
#[doc(hidden)]
#[macro_export]
macro_rules! module_functions {
    (load $name:literal, $driver:ty) => {
        ferrite_core::static_function!(packed $name, $crate::create::load_from_bytes::<$driver>)
    };
    (create $name:literal, $driver:ty) => {
        ferrite_core::static_function!(packed $name, $crate::create::create::<$driver>)
    };
}

//! Global functions of this build, as defaults: loaders and constructors of modules for each kind, and functions of the
//! runtime. TVM's own runtime uses the same names.

use ferrite_core::defaults::{self, Defaults, Group};

use crate::runtime;

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

/// Function that host code calls before the first kernel.
pub const SET_DEVICE: Group = Group {
    prefix: runtime::SET_DEVICE,
    functions: &[runtime::SET_DEVICE_FUNCTION],
    wrap: Some(runtime::wrap),
};

/// Functions through which TVM's Python package uses devices.
pub const RUNTIME: Group =
    Group { prefix: "runtime.", functions: runtime::FUNCTIONS, wrap: Some(runtime::wrap) };

/// Functions for CUDA.
#[cfg(feature = "cuda")]
pub const CUDA: Group = Group { prefix: "runtime.", functions: crate::cuda::FUNCTIONS, wrap: None };

/// Functions for ROCm.
#[cfg(feature = "rocm")]
pub const ROCM: Group = Group { prefix: "runtime.", functions: crate::rocm::FUNCTIONS, wrap: None };

/// Functions through which TVM's Python package describes the targets of a kind.
pub const DEVICE_API: Group = Group {
    prefix: "device_api.",
    functions: &[
        #[cfg(feature = "vulkan")]
        crate::vulkan::TARGET_PROPERTY,
    ],
    wrap: None,
};

/// All groups.
pub const GROUPS: &[Group] = &[
    LOADERS,
    CONSTRUCTORS,
    SET_DEVICE,
    RUNTIME,
    DEVICE_API,
    #[cfg(feature = "cuda")]
    CUDA,
    #[cfg(feature = "rocm")]
    ROCM,
];

/// Installs the functions in programs without the C library, which installs its own defaults along with these.
pub fn install() {
    static DEFAULTS: Defaults = Defaults { groups: &[GROUPS] };
    defaults::install(&DEFAULTS);
}

/// Expands to the table entry of a loader or constructor of a kind.
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

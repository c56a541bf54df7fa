//! The device types of DLPack 1.3 in Rust's naming convention.
#![forbid(unsafe_code)]

macro_rules! kinds {
    ($($name:ident = $value:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub const $name: i32 = crate::abi::$value;
    )*};
}

kinds! {
    CPU = kDLCPU, "Main memory.";
    CUDA = kDLCUDA, "Memory of a CUDA GPU.";
    CUDA_HOST = kDLCUDAHost, "Main memory pinned for CUDA.";
    OPENCL = kDLOpenCL, "OpenCL.";
    VULKAN = kDLVulkan, "Vulkan.";
    METAL = kDLMetal, "Metal.";
    VPI = kDLVPI, "Verilog simulator.";
    ROCM = kDLROCM, "Memory of a ROCm GPU.";
    ROCM_HOST = kDLROCMHost, "Main memory pinned for ROCm.";
    EXT_DEV = kDLExtDev, "Free for experiments.";
    CUDA_MANAGED = kDLCUDAManaged, "Managed memory of CUDA.";
    ONE_API = kDLOneAPI, "Shared memory of oneAPI.";
    WEB_GPU = kDLWebGPU, "WebGPU.";
    HEXAGON = kDLHexagon, "Hexagon DSP.";
    MAIA = kDLMAIA, "MAIA.";
    TRN = kDLTrn, "Trainium.";
}

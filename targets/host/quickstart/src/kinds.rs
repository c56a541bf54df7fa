//! Kinds of devices that `cargo run --release -- gpu` supports.

/// A kind of device: a feature of `ferrite-ffi-capi`, with a network compiled for it in
/// `quickstart/gpu`.
pub struct Kind {
    /// Name of the cargo feature, which is also the name of the device type.
    pub name: &'static str,
    /// Number of the DLPack device type.
    pub device_type: u32,
    /// Environment variable that selects one of several devices or drivers; empty if there is none.
    pub variable: &'static str,
    /// Meaning and syntax of the environment variable's value.
    pub choice: &'static str,
    /// Instructions to install a driver.
    pub install: &'static str,
}

/// Kinds of devices that are tried if none is named.
pub const DEFAULT: &[&str] = &["opencl", "vulkan", "cuda", "rocm"];

/// All supported kinds of devices.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "opencl",
        device_type: 4,
        variable: "FERRITE_OPENCL_PLATFORM",
        choice: "platforms by a part of their name",
        install: "the driver of your GPU has it; Debian: `apt-get install ocl-icd-libopencl1 pocl-opencl-icd` for the CPU",
    },
    Kind {
        name: "vulkan",
        device_type: 7,
        variable: "FERRITE_VULKAN_DEVICE",
        choice: "devices by a part of their name",
        install: "the driver of your GPU has it; Debian: `apt-get install libvulkan1 mesa-vulkan-drivers`, also for the CPU",
    },
    Kind {
        name: "cuda",
        device_type: 2,
        variable: "CUDA_VISIBLE_DEVICES",
        choice: "devices by their numbers",
        install: "NVIDIA's driver 550 or later has it (libcuda.so.1); no toolkit is needed",
    },
    Kind {
        name: "rocm",
        device_type: 10,
        variable: "HIP_VISIBLE_DEVICES",
        choice: "devices by their numbers",
        install: "AMD's driver and ROCm 5 or later (libamdhip64.so)",
    },
    Kind {
        name: "webgpu",
        device_type: 15,
        variable: "FERRITE_WEBGPU_ADAPTER",
        choice: "adapters by a part of their name",
        install: "a driver for Vulkan, as above; on macOS, Metal is part of the system",
    },
    Kind {
        name: "metal",
        device_type: 8,
        variable: "",
        choice: "",
        install: "Metal is part of macOS",
    },
];

/// Returns the kind of device with this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

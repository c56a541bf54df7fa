//! Names of TVM targets, mapped to device types.

use ferrite_alloc_ext::device;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{String, plain_bail};

/// Implements `runtime.RuntimeEnabled`: returns `true` if this build has a back end for the target.
/// Whether a device exists is its attribute 0.
///
/// # Upstream
/// `RuntimeEnabled` of `src/runtime/module.cc`, which lacks `webgpu`.
pub(super) fn is_enabled(target: String) -> Result<bool> {
    match device_type(target.as_bytes()) {
        Some(kind::CPU) => Ok(true),
        Some(device_type) => Ok(device::find(device_type).is_some()),
        // Code generation and remote devices exist in upstream only.
        None if matches!(target.as_bytes(), b"llvm" | b"rpc") => Ok(false),
        None => plain_bail!(INTERNAL_ERROR, "Unknown optional runtime {}", target.as_bytes()),
    }
}

/// Returns the device type of a target name; `None` for an unknown target.
pub(super) fn device_type(target: &[u8]) -> Option<i32> {
    Some(match target {
        b"cpu" => kind::CPU,
        b"cuda" | b"gpu" | b"nvptx" => kind::CUDA,
        b"opencl" | b"cl" => kind::OPENCL,
        b"vulkan" => kind::VULKAN,
        b"metal" => kind::METAL,
        b"rocm" => kind::ROCM,
        b"webgpu" => kind::WEB_GPU,
        b"hexagon" => kind::HEXAGON,
        _ => return None,
    })
}

//! Global functions for CUDA, used by TVM's Python package and generated code.

use ferrite_alloc_ext::env::stream;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::value::device::kind;
use ferrite_core::{String, static_function};

use super::platform;
use super::tensor_map;

/// Global functions for CUDA.
///
/// # Upstream
/// `src/runtime/cuda/cuda_device_api.cc` of Apache TVM.
pub const FUNCTIONS: &[StaticFunction] = &[
    static_function!("runtime.GetCudaDeviceCount", device_count),
    static_function!("runtime.GetCudaFreeMemory", free_memory),
    static_function!("runtime.get_cuda_stream", current_stream),
    static_function!(packed "runtime.cuTensorMapEncodeTiled", tensor_map::encode_tiled),
];

fn device_count() -> Result<i64> {
    Ok(platform::platform()?.devices().len() as i64)
}

/// Returns a sentence with the free memory of the current device. Clients split it into words, so
/// their number is fixed.
fn free_memory() -> Result<String> {
    let (free, total) = platform::current_device()?.memory_info()?;
    String::format(format_args!(
        "Current CUDA memory is {free} bytes free out of {total} bytes on device"
    ))
}

fn current_stream() -> Result<OpaquePtr> {
    let device = platform::current_device()?.id;
    // SAFETY: the code that set the stream guarantees that it is valid while it is set.
    Ok(unsafe { OpaquePtr::new(stream::get(stream::DeviceKey::new(kind::CUDA, device))) })
}

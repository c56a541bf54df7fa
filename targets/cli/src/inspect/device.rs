//! Modules of kernels for devices.

use ferrite::abi::DLDataType;
use ferrite::{Bytes, Result};
use ferrite_gpu::payload::{CodeLayout, Layout, Payload};

use super::report::{Device, Kernel};

/// Describes the payload of a device module; `None` for other kinds.
pub fn describe(kind: &[u8], payload: &[u8]) -> Option<Result<Device>> {
    let layout = match kind {
        b"cuda" => Layout::CUDA,
        b"opencl" => Layout::OPENCL,
        b"hip" | b"hsaco" => Layout::HIP,
        b"metal" => Layout::METAL,
        b"vulkan" => Layout::VULKAN,
        b"webgpu" => Layout::WEBGPU,
        _ => return None,
    };
    Some(read(&layout, payload))
}

fn read(layout: &Layout, payload: &[u8]) -> Result<Device> {
    let payload = Payload::read(layout, Bytes::new(payload)?)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let kernels: Vec<_> = payload
        .kernels()
        .iter()
        .map(|kernel| Kernel {
            name: text(payload.name_of(kernel)),
            parameters: kernel.parameters.iter().map(name_of).collect(),
            launch: payload.tags_of(kernel).map(text).collect(),
            code_bytes: payload.code_of(kernel).len(),
        })
        .collect();
    let code_bytes = match layout.code {
        CodeLayout::Whole => payload.code().len(),
        CodeLayout::PerKernel | CodeLayout::Shaders => {
            kernels.iter().map(|kernel| kernel.code_bytes).sum()
        }
    };
    Ok(Device { format: text(payload.format()), code_bytes, kernels })
}

/// Returns the name of a type; its numbers if it has no name.
fn name_of(dtype: &DLDataType) -> String {
    let name =
        ferrite::dtype::to_string(*dtype).ok().and_then(|name| name.as_str().map(String::from));
    name.unwrap_or_else(|| {
        format!("type {} of {} bits and {} lanes", dtype.code, dtype.bits, dtype.lanes)
    })
}

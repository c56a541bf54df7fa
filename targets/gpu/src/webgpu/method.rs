//! Functions of WebGPU modules other than kernels, by which TVM's runtime for browsers prebuilds
//! shaders.

use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::{Function, String, plain_bail};

use super::code::WebGpu;
use crate::driver::Source;
use crate::module::DeviceModule;
use crate::wgsl_source;

/// Returns the function with this name if it is not a kernel or replaces one; `None` otherwise.
///
/// # Errors
/// MemoryError.
pub(super) fn find(
    module: &Module,
    of: &Source<'_, WebGpu>,
    name: &[u8],
) -> Result<Option<Function>> {
    let held = || module.clone();
    match name {
        b"webgpu.get_fmap" => {
            let module = held();
            Function::from_typed(move || wgsl_source::function_map(own(&module)?.source().payload))
                .map(Some)
        }
        b"webgpu.get_shader" => {
            let module = held();
            Function::from_typed(move |name: String| shader(own(&module)?, &name)).map(Some)
        }
        b"webgpu.update_prebuild" => {
            let module = held();
            let update = move |name: String, function: Function| {
                own(&module)?.source().code.prebuilt.set(name, function)
            };
            Function::from_typed(update).map(Some)
        }
        _ => Ok(of.code.prebuilt.get(name)),
    }
}

fn own(module: &Module) -> Result<&DeviceModule<WebGpu>> {
    match module.implementation() {
        Some(module) => Ok(module),
        None => plain_bail!(INTERNAL_ERROR, "The module is not of kind webgpu"),
    }
}

fn shader(module: &DeviceModule<WebGpu>, name: &String) -> Result<String> {
    let payload = module.source().payload;
    match payload.find(name.as_bytes()) {
        Some(kernel) => String::from_bytes(payload.code_of(&payload.kernels()[kernel])),
        None => plain_bail!(INTERNAL_ERROR, "There is no shader {}", name),
    }
}

//! Modules of kernels in WGSL, whose functions JavaScript makes.

use core::ffi::CStr;

use ferrite_alloc_ext::module::{BINARY_SERIALIZABLE, Module, ModuleImpl, RUNNABLE};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::{AnyView, Bytes, Function, String, plain_bail};
use ferrite_gpu::payload::{Layout, Payload};
use ferrite_gpu::wgsl_source;

use super::api;

/// A module. JavaScript's functions take the kernels' arguments and work sizes as host code passes
/// them, so a launch is one call into JavaScript.
struct WebGpuModule {
    payload: Payload,
    /// Functions by kernel: made at the first lookup, or ahead by `asyncLoadWebGPUPipelines`.
    functions: ObjectMutex<Buffer<Option<Function>>>,
}

/// Creates a module from a payload. Needs no device.
///
/// # Errors
/// InternalError for a malformed payload; MemoryError.
pub fn load(bytes: Bytes) -> Result<Module> {
    let payload = Payload::read(&Layout::WEBGPU, bytes)?;
    let mut functions = Buffer::new();
    for _ in payload.kernels() {
        functions.try_push(None)?;
    }
    Module::from_impl(WebGpuModule { payload, functions: ObjectMutex::new(functions) })
}

impl WebGpuModule {
    /// Returns the module behind a reference.
    fn of(module: &Module) -> Result<&WebGpuModule> {
        match module.implementation() {
            Some(module) => Ok(module),
            None => plain_bail!(INTERNAL_ERROR, "The module is not of kind webgpu"),
        }
    }

    /// Returns the number of a kernel.
    ///
    /// # Errors
    /// ValueError for an unknown name.
    fn kernel(&self, name: &String) -> Result<usize> {
        match self.payload.find(name.as_bytes()) {
            Some(kernel) => Ok(kernel),
            None => plain_bail!(VALUE_ERROR, "There is no shader {}", name),
        }
    }

    fn shader(&self, kernel: usize) -> Result<String> {
        String::from_bytes(self.payload.code_of(&self.payload.kernels()[kernel]))
    }

    fn set_function(&self, kernel: usize, function: Function) {
        self.functions.with_mut(|functions| functions[kernel] = Some(function));
    }

    /// Returns the function that launches a kernel. The first call makes its pipeline.
    fn function(&self, kernel: usize) -> Result<Function> {
        if let Some(function) = self.functions.with_mut(|functions| functions[kernel].clone()) {
            return Ok(function);
        }
        let create = api::registered("wasm.WebGPUCreateShader", api::NO_WEBGPU)?;
        let info = wgsl_source::function_info(&self.payload, &self.payload.kernels()[kernel])?;
        let shader = self.shader(kernel)?;
        let args = [AnyView::from(&info), AnyView::from(&shader)];
        let function: Function = create.call_packed(&args)?.get()?;
        self.set_function(kernel, function.clone());
        Ok(function)
    }
}

impl ModuleImpl for WebGpuModule {
    fn kind(&self) -> &CStr {
        c"webgpu"
    }

    fn property_mask(&self) -> i32 {
        BINARY_SERIALIZABLE | RUNNABLE
    }

    /// Looks up kernels, and the functions by which tvmjs makes pipelines ahead.
    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>> {
        let owner = module.clone();
        match name.as_bytes() {
            b"webgpu.get_fmap" => Function::from_typed(move || {
                wgsl_source::function_map(&WebGpuModule::of(&owner)?.payload)
            }),
            b"webgpu.get_shader" => Function::from_typed(move |name: String| {
                let module = WebGpuModule::of(&owner)?;
                module.shader(module.kernel(&name)?)
            }),
            b"webgpu.update_prebuild" => {
                Function::from_typed(move |name: String, function: Function| -> Result<()> {
                    let module = WebGpuModule::of(&owner)?;
                    module.set_function(module.kernel(&name)?, function);
                    Ok(())
                })
            }
            name => match self.payload.find(name) {
                Some(kernel) => self.function(kernel),
                None => return Ok(None),
            },
        }
        .map(Some)
    }

    /// Checks whether there is a kernel, without its pipeline.
    fn implements_function(&self, module: &Module, name: &String) -> Result<bool> {
        let is_kernel = self.payload.find(name.as_bytes()).is_some();
        Ok(is_kernel || self.get_function(module, name)?.is_some())
    }

    fn save_to_bytes(&self) -> Result<Bytes> {
        Ok(self.payload.bytes().clone())
    }

    fn inspect_source(&self, _format: &String) -> Result<String> {
        wgsl_source::shaders(&self.payload)
    }
}

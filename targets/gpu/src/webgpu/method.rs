//! Functions of WebGPU modules other than kernels, by which TVM's runtime for browsers prebuilds
//! shaders.

use core::sync::atomic::{AtomicBool, Ordering};

use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::{ObjectMutex, ObjectMutexGuard};
use ferrite_core::{Function, String, plain_bail};

use super::{WebGpu, source};
use crate::module::DeviceModule;

/// Prebuilt functions that replace kernels, by kernel name.
pub(super) struct Prebuilt {
    functions: ObjectMutex<Buffer<(String, Function)>>,
    /// Whether the table has any functions. It rarely does, and a lookup in an empty table takes no
    /// lock.
    are_any: AtomicBool,
}

impl Prebuilt {
    /// Creates an empty table.
    pub(super) const fn new() -> Prebuilt {
        Prebuilt { functions: ObjectMutex::new(Buffer::new()), are_any: AtomicBool::new(false) }
    }

    fn functions(&self) -> ObjectMutexGuard<'_, Buffer<(String, Function)>> {
        self.functions.lock()
    }

    fn get(&self, name: &[u8]) -> Option<Function> {
        if !self.are_any.load(Ordering::Acquire) {
            return None;
        }
        let functions = self.functions();
        functions.iter().find(|(of, _)| of.as_bytes() == name).map(|(_, function)| function.clone())
    }

    fn set(&self, name: String, function: Function) -> Result<()> {
        let mut functions = self.functions();
        let found = functions.as_mut_slice().iter_mut().find(|(of, _)| *of == name);
        let previous = match found {
            Some((_, slot)) => Some(core::mem::replace(slot, function)),
            None => {
                functions.try_push((name, function))?;
                self.are_any.store(true, Ordering::Release);
                None
            }
        };
        // Dropped without the lock, since dropping a function may run a user callback.
        drop(functions);
        drop(previous);
        Ok(())
    }
}

/// Returns the function with this name if it is not a kernel or replaces one; `None` otherwise.
///
/// # Errors
/// MemoryError.
pub(super) fn find(
    module: &Module,
    this: &DeviceModule<WebGpu>,
    name: &[u8],
) -> Result<Option<Function>> {
    let held = || module.clone();
    match name {
        b"webgpu.get_fmap" => {
            let module = held();
            Function::from_typed(move || source::function_map(own(&module)?.source().payload))
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
        _ => Ok(this.source().code.prebuilt.get(name)),
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

//! The code of WebGPU modules, and the type that stands for their kind.

use core::sync::atomic::{AtomicBool, Ordering};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::{ObjectMutex, ObjectMutexGuard};
use ferrite_core::{Function, String};

/// The WebGPU back end.
pub struct WebGpu;

/// Code of a WebGPU module: the buffer accesses of its kernels, and prebuilt functions.
pub struct Code {
    /// Whether a kernel writes a buffer, by kernel and buffer.
    pub(super) is_written: Buffer<Buffer<bool>>,
    pub(super) prebuilt: Prebuilt,
}

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

    pub(super) fn get(&self, name: &[u8]) -> Option<Function> {
        if !self.are_any.load(Ordering::Acquire) {
            return None;
        }
        let functions = self.functions();
        functions.iter().find(|(of, _)| of.as_bytes() == name).map(|(_, function)| function.clone())
    }

    pub(super) fn set(&self, name: String, function: Function) -> Result<()> {
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

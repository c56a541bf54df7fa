//! Functions of JavaScript that use the device, looked up on first use.

use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::sync::Mutex;
use ferrite_core::{Any, AnyView, Function, plain_bail};

/// Message of the error of a page without a device.
pub(super) const NO_WEBGPU: &str = "The page has no WebGPU device: call initWebGPU first";

/// Name of the function that returns the others.
const DEVICE_API: &str = "wasm.WebGPUDeviceAPI";

/// Number of operations.
const COUNT: usize = 5;

/// An operation on the device.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    /// Creates a buffer: (bytes) -> number of the buffer.
    Allocate,
    /// Destroys a buffer: (buffer).
    Free,
    /// Writes to a buffer at once: (address, buffer, offset, bytes).
    Upload,
    /// Reads a buffer, later: (buffer, offset, address, bytes).
    Read,
    /// Copies between buffers, in the order of launches: (buffer, offset, buffer, offset, bytes).
    Copy,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Allocate => "deviceAllocDataSpace",
            Operation::Free => "deviceFreeDataSpace",
            Operation::Upload => "deviceCopyToGPU",
            Operation::Read => "deviceCopyFromGPU",
            Operation::Copy => "deviceCopyWithinGPU",
        }
    }

    /// Calls the function of JavaScript.
    ///
    /// # Errors
    /// RuntimeError if the page has no device; errors of JavaScript; MemoryError.
    pub(super) fn call(self, args: &[AnyView<'_>]) -> Result<Any> {
        static FOUND: Mutex<[Option<Function>; COUNT]> = Mutex::new([const { None }; COUNT]);
        if let Some(function) = FOUND.with_mut(|found| found[self as usize].clone()) {
            return function.call_packed(args);
        }
        let name = ferrite_core::String::new(self.name())?;
        let api = registered(DEVICE_API, NO_WEBGPU)?;
        let function: Function = api.call_packed(&[AnyView::from(&name)])?.get()?;
        FOUND.with_mut(|found| found[self as usize] = Some(function.clone()));
        function.call_packed(args)
    }
}

/// Returns `true` if the page has a device.
pub(super) fn is_there() -> Result<bool> {
    Ok(global_table::get(DEVICE_API.as_bytes())?.is_some())
}

/// Returns a function that JavaScript has registered.
///
/// # Errors
/// RuntimeError with this message if it has not; MemoryError.
pub(super) fn registered(name: &str, message: &'static str) -> Result<Function> {
    match global_table::get(name.as_bytes())? {
        Some(function) => Ok(function),
        None => plain_bail!(RUNTIME_ERROR, "{}", message),
    }
}

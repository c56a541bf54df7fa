//! The part of a kind of device module that is its own.

use core::ffi::CStr;

use ferrite_alloc_ext::module::{BINARY_SERIALIZABLE, Module, RUNNABLE};
use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, String};

use crate::launch::Launch;
use crate::module::DeviceModule;
use crate::payload::{Layout, Payload};

/// Devices of a kind at most. Larger ids are refused.
pub const MAX_DEVICES: usize = 32;

/// A kind of device module. [`DeviceModule`] does everything else: payloads, functions, arguments, loading once per device.
///
/// # Life of a module
/// | Step | When | Called |
/// |---|---|---|
/// | [`prepare`](Driver::prepare) or [`prepare_created`](Driver::prepare_created) | the module is loaded, or made by the compiler | no driver is opened |
/// | [`make_ready`](Driver::make_ready) | a kernel is looked up | no driver is opened |
/// | [`load`](Driver::load) | first launch on a device | under a lock of the module |
/// | [`load_kernel`](Driver::load_kernel) | first launch of a kernel on a device | under the same lock |
/// | [`launch`](Driver::launch) | each launch | without a lock or an allocation |
///
/// What `load` and `load_kernel` made is dropped with the module; errors of the driver are ignored then. A failure of either
/// keeps nothing: the next launch tries again.
pub trait Driver: Send + Sync + Sized + 'static {
    /// The kind, as in `ffi.Module.load_from_bytes.KIND`.
    const KIND: &'static CStr;

    /// The layout of payloads.
    const LAYOUT: &'static Layout;

    /// The device type of the kind.
    const DEVICE_TYPE: i32;

    /// The property mask of modules.
    const PROPERTY_MASK: i32 = BINARY_SERIALIZABLE | RUNNABLE;

    /// The code of a module in the form in which drivers get it.
    type Code: Send + Sync + 'static;

    /// A module on one device.
    type Loaded: Send + Sync + 'static;

    /// A kernel on one device.
    type Kernel: Send + Sync + 'static;

    /// Brings the code into its form. Opens no driver.
    ///
    /// # Errors
    /// InternalError when the payload makes no sense; those of a compiler.
    fn prepare(payload: &Payload) -> Result<Self::Code>;

    /// As [`prepare`](Driver::prepare), for a module that the compiler makes in its own process. It may only be exported there, so
    /// that whatever needs more than the code waits for [`make_ready`](Driver::make_ready).
    ///
    /// # Errors
    /// As [`prepare`](Driver::prepare).
    fn prepare_created(payload: &Payload) -> Result<Self::Code> {
        Self::prepare(payload)
    }

    /// Does what [`prepare_created`](Driver::prepare_created) left. Called when a kernel is looked up, without a lock: it may call
    /// functions that others registered.
    ///
    /// # Errors
    /// Those of a compiler.
    fn make_ready(_source: &Source<'_, Self>) -> Result<()> {
        Ok(())
    }

    /// The device on which this thread launches kernels.
    ///
    /// # Errors
    /// Errors of the driver.
    fn current_device() -> Result<i32>;

    /// Loads a module on a device, with what all its kernels share.
    ///
    /// # Errors
    /// Errors of the driver, a missing library among them.
    fn load(source: &Source<'_, Self>, device: i32) -> Result<Self::Loaded>;

    /// Loads a kernel of a module on a device.
    ///
    /// # Errors
    /// Errors of the driver, with its build log if it compiles.
    fn load_kernel(
        source: &Source<'_, Self>,
        loaded: &Self::Loaded,
        kernel: usize,
        device: i32,
    ) -> Result<Self::Kernel>;

    /// Queues a kernel.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The values must be what the kernel takes: handles are memory of this device.
    unsafe fn launch(kernel: &Self::Kernel, device: i32, launch: &Launch<'_>) -> Result<()>;

    /// A function of the module itself, such as `opencl.GetPreCompiledPrograms`. It goes before a kernel of the same name.
    ///
    /// # Errors
    /// Any; a name that is not there is none, not an error.
    fn method(_module: &Module, _this: &DeviceModule<Self>, _name: &[u8]) -> Result<Option<Function>> {
        Ok(None)
    }

    /// A source that is put together when somebody asks for it. None for formats that [`inspect_source`](Driver::inspect_source)
    /// has.
    ///
    /// # Errors
    /// MemoryError.
    fn compose_source(_source: &Source<'_, Self>, _format: &[u8]) -> Result<Option<String>> {
        Ok(None)
    }

    /// The source in a format; empty when there is none.
    fn inspect_source<'a>(source: &Source<'a, Self>, format: &[u8]) -> &'a [u8];

    /// The payload that gives this module when it is loaded.
    ///
    /// # Errors
    /// MemoryError.
    fn save(source: &Source<'_, Self>) -> Result<Bytes> {
        Ok(source.payload.bytes().clone())
    }
}

/// The code of a module: the payload, and its prepared form.
pub struct Source<'a, D: Driver> {
    /// The payload.
    pub payload: &'a Payload,
    /// The prepared form.
    pub code: &'a D::Code,
}

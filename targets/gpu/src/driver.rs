//! Interface between device modules and the driver of one kind, such as `cuda`.

use core::ffi::CStr;

use ferrite_alloc_ext::module::{BINARY_SERIALIZABLE, Module, RUNNABLE};
use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, String};

use crate::launch::Launch;
use crate::payload::{Layout, Payload};

/// Maximum number of devices of a kind. Larger ids are rejected.
pub const MAX_DEVICES: usize = 32;

/// A kind of device module. [`DeviceModule`](crate::module::DeviceModule) implements the rest:
/// payloads, functions, arguments, and loading once per device.
///
/// # Life of a module
/// | Step | When | Called |
/// |---|---|---|
/// | [`prepare`](Driver::prepare) or [`prepare_created`](Driver::prepare_created) | the module is loaded, or created by the compiler | no driver is opened |
/// | [`make_ready`](Driver::make_ready) | a kernel is looked up | no driver is opened |
/// | [`load`](Driver::load) | first launch on a device | under a lock of the module |
/// | [`load_kernel`](Driver::load_kernel) | first launch of a kernel on a device | under the same lock |
/// | [`launch`](Driver::launch) | each launch | without a lock or an allocation |
///
/// Results of `load` and `load_kernel` are dropped with the module, where errors of the driver are
/// ignored. A failure of either leaves no state behind: the next launch tries again.
pub trait Driver: Send + Sync + Sized + 'static {
    /// Name of the kind, as in `ffi.Module.load_from_bytes.KIND`.
    const KIND: &'static CStr;

    /// Layout of payloads.
    const LAYOUT: &'static Layout;

    /// DLPack device type.
    const DEVICE_TYPE: i32;

    /// Property mask of modules.
    const PROPERTY_MASK: i32 = BINARY_SERIALIZABLE | RUNNABLE;

    /// Code of a module, prepared for the driver.
    type Code: Send + Sync + 'static;

    /// A module loaded on one device.
    type Loaded: Send + Sync + 'static;

    /// A kernel loaded on one device.
    type Kernel: Send + Sync + 'static;

    /// Validates the payload and prepares its code. Opens no driver.
    ///
    /// # Errors
    /// InternalError for an invalid payload; errors of a compiler.
    fn prepare(payload: &Payload) -> Result<Self::Code>;

    /// Prepares the code of a module created in the compiler's process, which often only exports
    /// the module. So everything but validation is left to [`make_ready`](Driver::make_ready). The
    /// default implementation is [`prepare`](Driver::prepare).
    ///
    /// # Errors
    /// Same errors as [`prepare`](Driver::prepare).
    fn prepare_created(payload: &Payload) -> Result<Self::Code> {
        Self::prepare(payload)
    }

    /// Completes the preparation that [`prepare_created`](Driver::prepare_created) left out. Called
    /// without a lock when a kernel is looked up, so it may call registered functions.
    ///
    /// # Errors
    /// Errors of a compiler.
    fn make_ready(_source: &Source<'_, Self>) -> Result<()> {
        Ok(())
    }

    /// Returns the device on which this thread launches kernels.
    ///
    /// # Errors
    /// Errors of the driver.
    fn current_device() -> Result<i32>;

    /// Loads a module on a device, with all state that its kernels share.
    ///
    /// # Errors
    /// Errors of the driver, including a missing library.
    fn load(source: &Source<'_, Self>, device: i32) -> Result<Self::Loaded>;

    /// Loads a kernel of a module on a device.
    ///
    /// # Errors
    /// Errors of the driver, with the build log if it compiles.
    fn load_kernel(
        source: &Source<'_, Self>,
        loaded: &Self::Loaded,
        kernel: usize,
        device: i32,
    ) -> Result<Self::Kernel>;

    /// Queues a launch.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The values must have the kernel's parameter types; handles must be memory of this device.
    unsafe fn launch(kernel: &Self::Kernel, device: i32, launch: &Launch<'_>) -> Result<()>;

    /// Returns a function of the module other than a kernel, such as
    /// `opencl.GetPreCompiledPrograms`. It takes precedence over a kernel of the same name.
    ///
    /// # Errors
    /// Errors of the kind. An unknown name is not an error: the result is `None`.
    fn method(
        _module: &Module,
        _source: &Source<'_, Self>,
        _name: &[u8],
    ) -> Result<Option<Function>> {
        Ok(None)
    }

    /// Returns a source that is composed on demand; `None` for formats handled by
    /// [`inspect_source`](Driver::inspect_source).
    ///
    /// # Errors
    /// MemoryError.
    fn compose_source(_source: &Source<'_, Self>, _format: &[u8]) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the source in a format; empty if the module has no source in it.
    fn inspect_source<'a>(source: &Source<'a, Self>, format: &[u8]) -> &'a [u8];

    /// Serialises the module into a payload that loads again.
    ///
    /// # Errors
    /// MemoryError.
    fn save(source: &Source<'_, Self>) -> Result<Bytes> {
        Ok(source.payload.bytes().clone())
    }
}

/// Code of a module: the payload, and its prepared form.
pub struct Source<'a, D: Driver> {
    /// The payload.
    pub payload: &'a Payload,
    /// The prepared form.
    pub code: &'a D::Code,
}

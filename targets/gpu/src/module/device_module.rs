//! Device modules: their code, and the kernels that are loaded.

use ferrite_alloc_ext::containers::MapObject;
use ferrite_core::error::Result;

use super::loading::Loading;
use crate::driver::{Driver, Source};
use crate::payload::Payload;

/// A module of kernels for one kind of device.
pub struct DeviceModule<D: Driver> {
    pub(super) payload: Payload,
    code: D::Code,
    /// Sources by format, from the compiler; not saved with the module.
    pub(super) sources: Option<MapObject>,
    loading: Loading<D>,
}

impl<D: Driver> DeviceModule<D> {
    /// Creates a module of prepared code, without loaded kernels.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn with_code(
        payload: Payload,
        code: D::Code,
        sources: Option<MapObject>,
    ) -> Result<DeviceModule<D>> {
        let loading = Loading::<D>::new(payload.kernels().len())?;
        Ok(DeviceModule { payload, code, sources, loading })
    }

    /// Returns the payload and the code.
    pub fn source(&self) -> Source<'_, D> {
        Source { payload: &self.payload, code: &self.code }
    }

    /// Runs `body` with a kernel. Loads the kernel on the device first if necessary.
    ///
    /// # Errors
    /// Errors of [`Driver::load`] and [`Driver::load_kernel`]; ValueError for a device id of
    /// [`MAX_DEVICES`](crate::driver::MAX_DEVICES) or more; errors of `body`.
    pub fn with_kernel<R>(
        &self,
        kernel: usize,
        device: i32,
        body: impl FnOnce(&D::Kernel) -> Result<R>,
    ) -> Result<R> {
        body(self.loading.kernel(&self.source(), kernel, device)?)
    }
}

//! Device modules of all kinds, generic over [`Driver`].

mod device_module;
mod kernel;
mod loading;

use core::ffi::CStr;

use ferrite_alloc_ext::containers::MapObject;
use ferrite_alloc_ext::module::{Module, ModuleImpl};
use ferrite_core::error::Result;
use ferrite_core::{AnyView, Bytes, Function, String};

use crate::driver::Driver;
use crate::launch::LaunchPlan;
use crate::payload::Payload;
use crate::runtime;

pub use device_module::DeviceModule;

impl<D: Driver> DeviceModule<D> {
    /// Creates a module from a payload. Opens no driver.
    ///
    /// # Errors
    /// InternalError for a malformed payload; errors of [`Driver::prepare`]; MemoryError.
    pub fn load(bytes: Bytes) -> Result<Module> {
        let payload = Payload::read(D::LAYOUT, bytes)?;
        let code = D::prepare(&payload)?;
        Module::from_impl(Self::with_code(payload, code, None)?)
    }

    /// Creates a module for TVM's compiler, with sources by format for `inspect_source`. Opens no
    /// driver.
    ///
    /// # Errors
    /// InternalError for a malformed payload; errors of [`Driver::prepare_created`]; MemoryError.
    pub fn create(bytes: Bytes, sources: Option<MapObject>) -> Result<Module> {
        let payload = Payload::read(D::LAYOUT, bytes)?;
        let code = D::prepare_created(&payload)?;
        Module::from_impl(Self::with_code(payload, code, sources)?)
    }
}

impl<D: Driver> ModuleImpl for DeviceModule<D> {
    fn kind(&self) -> &CStr {
        D::KIND
    }

    fn property_mask(&self) -> i32 {
        D::PROPERTY_MASK
    }

    /// Looks up functions of the kind, kernels by name, and `__tvm_set_device`.
    ///
    /// Host code searches imports before the global table. So it always finds the
    /// `__tvm_set_device` of this module, whichever runtime registered the global name.
    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>> {
        if let Some(function) = D::method(module, &self.source(), name.as_bytes())? {
            return Ok(Some(function));
        }
        if let Some(index) = self.payload.find(name.as_bytes()) {
            D::make_ready(&self.source())?;
            let kernel = &self.payload.kernels()[index];
            let tags = self.payload.tags_of(kernel);
            let plan = LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, tags)?;
            return kernel::create::<D>(module.clone(), self, index, plan).map(Some);
        }
        if name.as_bytes() == runtime::SET_DEVICE.as_bytes() {
            return runtime::set_device_function().map(Some);
        }
        Ok(None)
    }

    fn implements_function(&self, module: &Module, name: &String) -> Result<bool> {
        let is_kernel = self.payload.find(name.as_bytes()).is_some();
        Ok(is_kernel || self.get_function(module, name)?.is_some())
    }

    fn save_to_bytes(&self) -> Result<Bytes> {
        D::save(&self.source())
    }

    fn inspect_source(&self, format: &String) -> Result<String> {
        if let Some(sources) = &self.sources
            && let Some(source) = sources.get(AnyView::from(format))?
        {
            return source.get();
        }
        if let Some(source) = D::compose_source(&self.source(), format.as_bytes())? {
            return Ok(source);
        }
        String::from_bytes(D::inspect_source(&self.source(), format.as_bytes()))
    }
}

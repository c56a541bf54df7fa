//! Steps with modules.

use std::ptr;

use ferrite_core::abi::*;

use super::Api;
use crate::limits;
use crate::machine::{Outcome, handle, status};
use crate::program::Reg;
use crate::shared_object::SharedObject;
use crate::texts::Text;

/// Offset of a module from the address that the loader stores.
const BEFORE_MODULE: usize = 8;

impl Api<'_> {
    pub(super) fn load_module(&self, object: &SharedObject) -> Outcome {
        if object.has_device() {
            limits::set_device_code(true);
        }
        let Some(file) = object.open() else { return Outcome::Skipped };
        let mut out = ptr::null_mut();
        // SAFETY: both are C strings; the file is a shared object.
        handle(
            unsafe {
                (self.symbols.TVMModLoadFromFile)(file.path.as_ptr(), c"so".as_ptr(), &mut out)
            },
            out,
        )
    }

    pub(super) fn module_function(&self, module: Reg, name: &Text, imports: bool) -> Outcome {
        let Some(module) = self.object_of(module, kTVMFFIModule) else { return Outcome::Skipped };
        let (mut out, name) = (ptr::null_mut(), name.c_string());
        // SAFETY: the module lives; the name is a C string.
        let status = unsafe {
            (self.symbols.TVMModGetFunction)(module, name.as_ptr().cast(), imports.into(), &mut out)
        };
        handle(status, out)
    }

    pub(super) fn import(&self, module: Reg, imported: Reg) -> Outcome {
        let modules = [module, imported].map(|reg| self.object_of(reg, kTVMFFIModule));
        let [Some(module), Some(imported)] = modules else { return Outcome::Skipped };
        // SAFETY: both live.
        status(unsafe { (self.symbols.TVMModImport)(module, imported) })
    }

    pub(super) fn func_from_env(&self, module: Reg, name: &Text) -> Outcome {
        let Some(module) = self.object_of(module, kTVMFFIModule) else { return Outcome::Skipped };
        let (mut out, name) = (ptr::null_mut(), name.c_string());
        // SAFETY: the context is that of a live module, which owns the function.
        let status = unsafe {
            let context = module.byte_sub(BEFORE_MODULE);
            (self.symbols.TVMBackendGetFuncFromEnv)(context, name.as_ptr().cast(), &mut out)
        };
        Outcome::Shown(status, format!("found {}", !out.is_null()))
    }
}

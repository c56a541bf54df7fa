//! Steps with the environment: streams, tensor allocators, signals and symbols.

use core::ffi::{CStr, c_int, c_void};
use std::ptr;

use ferrite_core::abi::*;

use super::state::{Machine, Outcome, handle, status};
use crate::classes::fail;
use crate::program::{Meta, Reg};
use crate::texts::{self, SYSTEM_SYMBOLS, Text};
use crate::{callbacks, tensors};

/// Eight bytes before a module is its C++ part, which the loader passes to libraries.
const BEFORE_MODULE: usize = 8;

impl Machine {
    pub(super) fn stream(&self, device_type: i8, device_id: i8, stream: u8) -> Outcome {
        let symbols = &self.library.symbols;
        let (device_type, device_id) = (device_type.into(), device_id.into());
        let mut before = ptr::null_mut();
        // SAFETY: streams are addresses that the library does not read.
        unsafe {
            let stream = ptr::without_provenance_mut(stream.into());
            let status = (symbols.TVMFFIEnvSetStream)(device_type, device_id, stream, &mut before);
            if status != 0 {
                return super::state::status(status);
            }
            let after = (symbols.TVMFFIEnvGetStream)(device_type, device_id);
            Outcome::Shown(0, format!("{} {}", before.addr(), after.addr()))
        }
    }

    pub(super) fn allocator(&self, mode: u8, global: bool) -> Outcome {
        let allocator: DLPackManagedTensorAllocator = match mode % 3 {
            0 => None,
            1 => Some(tensors::allocate),
            _ => Some(tensors::refuse),
        };
        let mut before = None;
        // SAFETY: the allocators are functions of the program.
        let status = unsafe {
            (self.library.symbols.TVMFFIEnvSetDLPackManagedTensorAllocator)(
                allocator,
                global.into(),
                &mut before,
            )
        };
        // SAFETY: no conditions.
        let now = unsafe { (self.library.symbols.TVMFFIEnvGetDLPackManagedTensorAllocator)() };
        Outcome::Shown(status, format!("{} {}", before.is_some(), now.is_some()))
    }

    pub(super) fn tensor_alloc(&self, meta: &Meta) -> Outcome {
        if !meta.fits() {
            return Outcome::Skipped;
        }
        let mut out = ptr::null_mut();
        // SAFETY: the prototype lives through the call.
        let status = meta.with(ptr::null_mut(), |prototype| unsafe {
            (self.library.symbols.TVMFFIEnvTensorAlloc)(prototype, &mut out)
        });
        handle(status, out)
    }

    pub(super) fn signals(&self, fails: bool) -> Outcome {
        let symbols = &self.library.symbols;
        let check: unsafe extern "C" fn() -> c_int = if fails { interrupted } else { quiet };
        let functions = [
            (c"PyErr_CheckSignals", check as *mut c_void),
            (c"PyGILState_Ensure", quiet as *mut c_void),
            (c"PyGILState_Release", ignore as *mut c_void),
        ];
        // SAFETY: the functions have the types that the names imply, and are removed again.
        unsafe {
            let register =
                |name: &CStr, function| (symbols.TVMFFIEnvRegisterCAPI)(name.as_ptr(), function);
            let registered = functions.map(|(name, function)| register(name, function));
            let checked = (symbols.TVMFFIEnvCheckSignals)();
            let removed = functions.map(|(name, _)| register(name, ptr::null_mut()));
            Outcome::Shown(checked, format!("{registered:?} {removed:?}"))
        }
    }

    pub(super) fn c_api(&self, name: &Text) -> Outcome {
        // SAFETY: the name is a C string, and null removes the function.
        status(unsafe {
            (self.library.symbols.TVMFFIEnvRegisterCAPI)(
                name.c_string().as_ptr().cast(),
                ptr::null_mut(),
            )
        })
    }

    pub(super) fn context_symbol(&self, name: &Text) -> Outcome {
        // SAFETY: no library that the program loads has a variable of such a name.
        status(unsafe {
            (self.library.symbols.TVMFFIEnvModRegisterContextSymbol)(
                name.c_string().as_ptr().cast(),
                callbacks::symbol as *mut c_void,
            )
        })
    }

    pub(super) fn system_symbol(&self, name: u8) -> Outcome {
        let name = Text::new(texts::choose(SYSTEM_SYMBOLS, name)).c_string();
        // SAFETY: the symbol is a safe call, as its name implies.
        status(unsafe {
            (self.library.symbols.TVMFFIEnvModRegisterSystemLibSymbol)(
                name.as_ptr().cast(),
                callbacks::symbol as *mut c_void,
            )
        })
    }

    pub(super) fn imports(&self, module: Reg, name: &Text) -> Outcome {
        let Some(module) = self.object_of(module, kTVMFFIModule) else { return Outcome::Skipped };
        let mut out = ptr::null_mut();
        // SAFETY: the context is that of a live module.
        let status = unsafe {
            (self.library.symbols.TVMFFIEnvModLookupFromImports)(
                module.byte_sub(BEFORE_MODULE),
                name.c_string().as_ptr().cast(),
                &mut out,
            )
        };
        Outcome::Shown(status, format!("found {}", !out.is_null()))
    }

    /// Undoes what steps changed for the process.
    pub(super) fn reset_environment(&self) {
        // SAFETY: null unsets the allocator.
        unsafe {
            (self.library.symbols.TVMFFIEnvSetDLPackManagedTensorAllocator)(
                None,
                1,
                ptr::null_mut(),
            );
        }
    }
}

unsafe extern "C" fn quiet() -> c_int {
    0
}

unsafe extern "C" fn ignore(_: c_int) {}

unsafe extern "C" fn interrupted() -> c_int {
    fail(c"a signal")
}

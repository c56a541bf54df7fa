//! System libraries: compiled code that is linked into the program and registers its symbols by
//! name, usually before `main`.
//!
//! # Upstream
//! `library_module_system_lib.cc`.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::names::name_table::NameTable;
use ferrite_core::platform::sync::atomic::Ordering;
use ferrite_core::{ObjectClass, String, plain_warn};

use super::Module;
use super::library::{FUNCTION_PREFIX, Library};
use super::library_module::LoadedLibrary;
use super::symbol_name::SymbolName;
use super::symbol_table::{self, SymbolTable};

pub(crate) static SYMBOLS: SymbolTable = SymbolTable::new();
pub(crate) static MODULES: NameTable<Module> = NameTable::new();

/// Registers a symbol of the program. If the name already has a different address, logs a warning
/// and replaces the address.
///
/// # Errors
/// MemoryError.
///
/// # Threads
/// Any thread, also before `main`.
///
/// # Safety
/// The symbol must be null, or have the type that its name implies for a [`Library`], and stay
/// valid until the process ends: modules call it.
///
/// # Upstream
/// `TVMFFIEnvModRegisterSystemLibSymbol`.
pub unsafe fn register(name: &[u8], address: *mut c_void) -> Result<()> {
    if symbol_table::set(&SYMBOLS, name, address)? != address {
        plain_warn!("Warning:SystemLib symbol {} get overriden to a different address", name);
    }
    Ok(())
}

/// Library of the registered symbols. Lookups try the name with the prefix first, then without it.
struct SystemLibrary {
    prefix: String,
}

impl SystemLibrary {
    /// Looks up the symbol `before` + prefix + `name`, then `before` + `name`; `None` if neither is
    /// registered.
    fn find(&self, before: &[u8], name: &[u8]) -> Result<Option<NonNull<c_void>>> {
        for prefix in [self.prefix.as_bytes(), b""] {
            let entry = SYMBOLS.get(SymbolName::new().join(&[before, prefix, name])?.as_bytes());
            let address = entry.and_then(|entry| NonNull::new(entry.value.load(Ordering::Acquire)));
            if address.is_some() {
                return Ok(address);
            }
        }
        Ok(None)
    }
}

// SAFETY: the code that registers a symbol guarantees its type (contract of the C function).
unsafe impl Library for SystemLibrary {
    fn symbol(&self, name: &CStr) -> Result<Option<NonNull<c_void>>> {
        self.find(b"", name.to_bytes())
    }

    fn function_symbol(&self, name: &[u8]) -> Result<Option<NonNull<c_void>>> {
        self.find(FUNCTION_PREFIX, name)
    }
}

/// Returns `true` if a module is the system library module for a prefix.
pub fn is_system_library(module: &Module) -> bool {
    let mut is_found = false;
    MODULES.for_each(|entry| {
        is_found = entry.value.as_object().ptr_eq(module.as_object());
        !is_found
    });
    is_found
}

/// Returns the system library module for a prefix, and creates it on the first call. There is one
/// module per prefix, which lives as long as the process.
///
/// # Errors
/// Errors of [`create_library_module`](super::library_module::create_library_module).
///
/// # Upstream
/// `SystemLibModuleRegistry::GetOrCreateModule`.
pub fn module(prefix: &String) -> Result<Module> {
    if let Some(entry) = MODULES.get(prefix.as_bytes()) {
        return Ok(entry.value.clone());
    }
    // Loading runs user callbacks, so no lock is held. If two threads load, both get the module
    // that was published first.
    let loaded = LoadedLibrary::load(SystemLibrary { prefix: prefix.clone() })?;
    Ok(MODULES.get_or_insert(prefix.as_bytes(), || loaded.publish())?.value.clone())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{address, double, name, slot_address, text};
    use super::*;
    use core::cell::Cell;
    use core::ptr;

    fn register(name: &[u8], address: *mut c_void) -> Result<()> {
        // SAFETY: the symbols of these tests have the types of their names.
        unsafe { super::register(name, address) }
    }

    #[test]
    fn names_are_looked_up_with_and_without_prefix() -> Result<()> {
        register(b"__tvm_ffi_sysa_double", address(double))?;
        register(b"__tvm_ffi_sys_plain", address(text))?;
        register(b"__tvm_ffi__doc_sys_plain", address(text))?;
        let module = module(&name("sysa_"))?;
        assert_eq!(module.kind()?, c"library");
        let function = module.get_function(&name("double"), false)?.unwrap();
        assert_eq!(function.call_packed(&[4i64.into()])?.get::<i64>()?, 8);
        assert!(module.get_function(&name("sysa_double"), false)?.is_some());
        assert!(module.implements_function(&name("sys_plain"), false)?);
        assert!(module.function_doc(&name("sys_plain"), false)?.is_some());
        assert!(!module.implements_function(&name("absent"), false)?);
        Ok(())
    }

    #[test]
    #[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
    fn there_is_one_module_per_prefix() -> Result<()> {
        let slot = Cell::new(ptr::null_mut());
        register(b"sysb___tvm_ffi__library_ctx", slot_address(&slot))?;
        let modules: std::vec::Vec<Module> = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| module(&name("sysb_")).unwrap()));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        assert!(modules.iter().all(|module| module.as_object().ptr_eq(modules[0].as_object())));
        assert_eq!(slot.get(), modules[0].context_address());
        assert!(!module(&name("sysc_"))?.as_object().ptr_eq(modules[0].as_object()));
        register(b"sysb___tvm_ffi__library_ctx", ptr::null_mut())
    }

    #[test]
    fn a_symbol_may_be_registered_before_or_after_its_module() -> Result<()> {
        let module = module(&name("sysd_"))?;
        assert!(!module.implements_function(&name("late"), false)?);
        register(b"__tvm_ffi_sysd_late", address(double))?;
        assert!(module.implements_function(&name("late"), false)?);
        register(b"__tvm_ffi_sysd_late", address(text))?;
        assert!(
            module
                .get_function(&name("late"), false)?
                .unwrap()
                .call_packed(&[])?
                .get::<String>()
                .is_ok()
        );
        Ok(())
    }
}

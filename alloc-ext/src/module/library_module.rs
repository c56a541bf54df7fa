//! Library modules: modules whose functions are symbols of a shared library, or of code linked into
//! the program.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFISafeCallType;
use ferrite_core::call::function;
use ferrite_core::error::Result;
use ferrite_core::{Function, String};

use super::library::{Library, LibraryRef};
use super::symbol_name::find_symbol;
use super::{
    BINARY_SERIALIZABLE, Module, ModuleImpl, RUNNABLE, context, library_bin, library_function,
    packed,
};

const METADATA_PREFIX: &[u8] = b"__tvm_ffi__metadata_";
const DOC_PREFIX: &[u8] = b"__tvm_ffi__doc_";
const LIBRARY_CTX: &CStr = c"__tvm_ffi__library_ctx";
const LIBRARY_BIN: &CStr = c"__tvm_ffi__library_bin";

/// Module implementation whose functions are symbols of a library.
pub(super) struct LibraryModule {
    library: LibraryRef,
}

impl LibraryModule {
    pub(super) fn create(library: &LibraryRef) -> Result<Module> {
        Module::from_impl(LibraryModule { library: library.clone() })
    }

    /// Calls the function `prefix` + `name`, which takes no arguments and returns a string; `None`
    /// if there is no such symbol.
    fn text(&self, prefix: &[u8], name: &String) -> Result<Option<String>> {
        let symbol =
            find_symbol(&[prefix, name.as_bytes()], &|name| self.library.get().symbol(name))?;
        let Some(symbol) = symbol else {
            return Ok(None);
        };
        // SAFETY: symbols of these names are safe-call functions that take no handle (contract of
        // `Library`).
        let text =
            unsafe { function::invoke_safe_call(safe_call(symbol), core::ptr::null_mut(), &[])? };
        text.get::<String>().map(Some)
    }
}

impl ModuleImpl for LibraryModule {
    fn kind(&self) -> &CStr {
        c"library"
    }

    fn property_mask(&self) -> i32 {
        BINARY_SERIALIZABLE | RUNNABLE
    }

    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>> {
        match self.library.get().function_symbol(name.as_bytes())? {
            Some(symbol) => {
                // SAFETY: symbols with the function prefix are safe-call functions, valid while the
                // module lives (contract of `Library`).
                unsafe { library_function::create(safe_call(symbol), module.clone()) }.map(Some)
            }
            None => packed::function(self.library.get(), module, name),
        }
    }

    fn implements_function(&self, _module: &Module, name: &String) -> Result<bool> {
        let library = self.library.get();
        Ok(library.function_symbol(name.as_bytes())?.is_some()
            || packed::symbol_of(library, name)?.is_some())
    }

    fn function_doc(&self, name: &String) -> Result<Option<String>> {
        self.text(DOC_PREFIX, name)
    }

    fn function_metadata(&self, name: &String) -> Result<Option<String>> {
        self.text(METADATA_PREFIX, name)
    }
}

/// Converts the address of a symbol to a function pointer.
///
/// # Safety
/// `symbol` must be the address of a safe-call function.
unsafe fn safe_call(symbol: NonNull<c_void>) -> TVMFFISafeCallType {
    // SAFETY: the caller guarantees the symbol; function and data pointers have one size on all
    // targets of this crate.
    unsafe { core::mem::transmute::<*mut c_void, TVMFFISafeCallType>(symbol.as_ptr()) }
}

/// The modules of a loaded library, before its context slot is set.
pub struct LoadedLibrary {
    /// Root of the import tree.
    pub(super) root: Module,
    /// Module of the library's own functions; `None` if it is not in the import tree.
    own: Option<Module>,
    /// Context slot, from which the library's host code reads its own module; `None` if the library
    /// has no such slot.
    slot: Option<NonNull<c_void>>,
}

impl LoadedLibrary {
    /// Stores the context symbols in the library's slots, and creates its modules.
    ///
    /// # Errors
    /// Errors of [`create_library_module`].
    pub fn load<L: Library>(library: L) -> Result<LoadedLibrary> {
        let library = LibraryRef::new(library)?;
        context::fill(library.get())?;
        let slot = match library.get().symbol(LIBRARY_CTX)? {
            None => packed::context(library.get())?,
            slot => slot,
        };
        let own = || LibraryModule::create(&library);
        let embedded = match library.binary(LIBRARY_BIN)? {
            Some(stream) => {
                // SAFETY: payloads are parts of the stream.
                let bytes = |payload: &[u8]| unsafe { library.bytes(payload) };
                Some(library_bin::load(stream, own, bytes)?)
            }
            None => packed::embedded(&library, own)?,
        };
        let (root, own) = match embedded {
            Some(modules) => modules,
            None => {
                let module = own()?;
                (module.clone(), Some(module))
            }
        };
        Ok(LoadedLibrary { root, own, slot })
    }

    /// Returns the library's context slot and the value to store in it; `None` if there is no slot
    /// or no module of its own.
    pub fn context(&self) -> Option<(NonNull<c_void>, *mut c_void)> {
        self.slot.zip(self.own.as_ref().map(Module::context_address))
    }

    /// Stores the library's own module in its context slot, and returns the root of the import
    /// tree. Runs no user callback.
    pub fn publish(&self) -> Module {
        if let Some((slot, context)) = self.context() {
            // SAFETY: the symbol is a writable pointer (contract of `Library`), and the module
            // keeps the library alive.
            unsafe { slot.as_ptr().cast::<*mut c_void>().write_unaligned(context) };
        }
        self.root.clone()
    }
}

/// Creates the modules of a library and returns the root of their import tree.
///
/// # Errors
/// InternalError for a malformed embedded binary; RuntimeError if it contains a module kind without
/// a loader, or an import cycle; errors of loaders; MemoryError. After an error the library is
/// dropped, and its context slot is unchanged.
///
/// # Upstream
/// `CreateLibraryModule` in `library_module.cc`.
pub fn create_library_module<L: Library>(library: L) -> Result<Module> {
    Ok(LoadedLibrary::load(library)?.publish())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeLibrary, address, double, name, slot_address, text};
    use super::*;
    use crate::containers::ArrayObject;
    use core::cell::Cell;
    use core::ptr;
    use ferrite_core::Any;
    use ferrite_core::abi::{TVMFFIAny, type_index};
    use ferrite_core::error::raised_error;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn functions_metadata_and_doc_come_from_symbols() -> Result<()> {
        let (library, _) = FakeLibrary::new(&[
            (c"__tvm_ffi_double", address(double)),
            (c"__tvm_ffi__metadata_double", address(text)),
            (c"__tvm_ffi__doc_double", address(text)),
            (c"__tvm_ffi_main", address(text)),
        ]);
        let module = create_library_module(library)?;
        assert_eq!((module.kind()?, module.property_mask()?), (c"library", 3));
        let function = module.get_function(&name("double"), false)?.unwrap();
        assert_eq!(function.call_packed(&[21i64.into()])?.get::<i64>()?, 42);
        assert!(module.implements_function(&name("main"), false)?);
        assert!(!module.implements_function(&name("triple"), true)?);
        assert!(module.get_function(&name("double\0"), true)?.is_none());
        let expected = "a text of some length";
        assert_eq!(module.function_metadata(&name("double"), true)?.unwrap(), expected);
        assert_eq!(module.function_doc(&name("double"), true)?.unwrap(), expected);
        assert!(module.function_doc(&name("main"), true)?.is_none());
        assert!(module.inspect_source(&name(""))?.as_bytes().is_empty());
        assert!(module.write_formats()?.is_empty());
        let error = module.write_to_file(&name("f"), &name("o")).unwrap_err();
        assert_eq!(error.message_bytes(), b"Module[library] does not support WriteToFile");
        let error = module.save_to_bytes().map(drop).unwrap_err();
        assert_eq!(error.message_bytes(), b"Module[library] does not support SaveToBytes");
        Ok(())
    }

    #[test]
    fn errors_of_a_symbol_reach_the_caller() -> Result<()> {
        let (library, _) = FakeLibrary::new(&[(c"__tvm_ffi_double", address(double))]);
        let function =
            create_library_module(library)?.get_function(&name("double"), false)?.unwrap();
        assert_eq!(function.call_packed(&[]).map(drop).unwrap_err().kind_bytes(), b"TypeError");
        Ok(())
    }

    #[test]
    fn a_result_that_holds_an_object_is_refused() -> Result<()> {
        use ferrite_core::abi::TVMFFIFunctionCell;
        use ferrite_core::object::ObjectClass;
        let (library, _) = FakeLibrary::new(&[(c"__tvm_ffi_text", address(text))]);
        let function = create_library_module(library)?.get_function(&name("text"), false)?.unwrap();
        let handle = function.as_object().as_ptr();
        // SAFETY: the cell follows the header of a function.
        let call = unsafe { (*handle.add(1).cast::<TVMFFIFunctionCell>()).safe_call }.unwrap();
        let mut result = TVMFFIAny { type_index: type_index::FUNCTION, ..TVMFFIAny::NONE };
        // SAFETY: calls the function with its own handle.
        let status = unsafe { call(handle.cast(), ptr::null(), 0, &mut result) };
        assert_eq!(
            (status, raised_error::take().unwrap().kind_bytes()),
            (-1, &b"InternalError"[..])
        );
        // SAFETY: as above.
        let status = unsafe { call(handle.cast(), ptr::null(), 0, ptr::null_mut()) };
        assert_eq!((status, raised_error::take().unwrap().kind_bytes()), (-1, &b"ValueError"[..]));
        Ok(())
    }

    #[test]
    fn the_library_outlives_module_and_functions() -> Result<()> {
        let (library, open) = FakeLibrary::new(&[(c"__tvm_ffi_double", address(double))]);
        let module = create_library_module(library)?;
        let function = module.get_function(&name("double"), false)?.unwrap();
        drop(module);
        assert_eq!(open.load(Ordering::Relaxed), 1);
        assert_eq!(function.call_packed(&[1i64.into()])?.get::<i64>()?, 2);
        drop(function);
        assert_eq!(open.load(Ordering::Relaxed), 0);
        Ok(())
    }

    /// Tests that a library stays loaded until its imports and cached functions, whose deleters may
    /// be its code, are destroyed.
    #[test]
    fn the_library_is_closed_after_imports_and_cached_functions() -> Result<()> {
        /// Object that counts its destruction while the library is open.
        struct Watch(Arc<AtomicUsize>, Arc<AtomicUsize>);
        impl Drop for Watch {
            fn drop(&mut self) {
                self.1.fetch_add(self.0.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        impl ModuleImpl for Watch {
            fn kind(&self) -> &CStr {
                c"watch"
            }
            fn get_function(&self, _: &Module, _: &String) -> Result<Option<Function>> {
                let watch = Watch(self.0.clone(), self.1.clone());
                Function::from_packed(move |_| Ok(Any::from(watch.1.load(Ordering::Relaxed))))
                    .map(Some)
            }
        }
        // Alone, inside other destructions, and so deep inside them that the objects are queued.
        for depth in [0, 1, 30, 31, 40] {
            let (library, open) = FakeLibrary::new(&[]);
            let seen = Arc::new(AtomicUsize::new(0));
            let module = create_library_module(library)?;
            module.import_module(&Module::from_impl(Watch(open.clone(), seen.clone()))?)?;
            module.lookup_from_imports(&name("watched"))?;
            let mut outer = Any::from(module);
            for _ in 0..depth {
                outer = Any::from(ArrayObject::from_slice(&[outer])?);
            }
            drop(outer);
            let ended = (seen.load(Ordering::Relaxed), open.load(Ordering::Relaxed));
            assert_eq!(ended, (2, 0), "at depth {depth}");
        }
        Ok(())
    }

    #[test]
    fn the_context_slot_gets_the_module() -> Result<()> {
        let slot = Cell::new(ptr::null_mut());
        let (library, _) = FakeLibrary::new(&[(c"__tvm_ffi__library_ctx", slot_address(&slot))]);
        let module = create_library_module(library)?;
        assert_eq!(slot.get(), module.context_address());
        // SAFETY: the module is alive.
        let again = unsafe { Module::from_context_address(NonNull::new(slot.get()).unwrap())? };
        assert_eq!(again.kind()?, c"library");
        Ok(())
    }

    #[test]
    fn an_absurd_length_is_refused_and_the_library_closed() {
        let stream = u64::MAX.to_le_bytes();
        let slot = Cell::new(ptr::null_mut());
        let (library, open) = FakeLibrary::new(&[
            (LIBRARY_BIN, stream.as_ptr().cast_mut().cast()),
            (c"__tvm_ffi__library_ctx", slot_address(&slot)),
        ]);
        let error = create_library_module(library).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"InternalError");
        let expected = std::format!(
            "Malformed library binary: length {} at offset 0 exceeds the address space",
            usize::MAX
        );
        assert_eq!(error.message_bytes(), expected.as_bytes());
        assert_eq!(open.load(Ordering::Relaxed), 0);
        assert!(slot.get().is_null());
    }
}

//! Modules and their functions by name, for programs in Rust.

use ferrite_core::error::Result;
use ferrite_core::{Function, String, plain_error};

use super::{Module, globals, system_lib};

/// Type of file names: a path on hosts, a string without an operating system.
#[cfg(feature = "std")]
pub type FileName = std::path::Path;
/// Type of file names: a path on hosts, a string without an operating system.
#[cfg(not(feature = "std"))]
pub type FileName = str;

/// Returns the bytes of a file name.
fn bytes(file: &FileName) -> &[u8] {
    #[cfg(feature = "std")]
    return file.as_os_str().as_encoded_bytes();
    #[cfg(not(feature = "std"))]
    return file.as_bytes();
}

impl Module {
    /// Loads a module from a file: a shared library, or any other kind of file for which there is a
    /// loader. A name without a folder is searched by the dynamic linker, like the libraries of a
    /// program.
    ///
    /// The code stays loaded until the process ends, since objects that the library creates may
    /// outlive the module; use [`load_from_file`](Module::load_from_file), which is unsafe, for a
    /// library that is to be closed. Loading runs the initialisers of the library, and calls of its
    /// functions run its code: load only files that you trust.
    ///
    /// ```no_run
    /// # use ferrite_alloc_ext::module::Module;
    /// # fn main() -> ferrite_core::Result<()> {
    /// let kernels = Module::load("libkernels.so")?;
    /// let add_one = kernels.get("add_one")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`load_from_file`](Module::load_from_file): RuntimeError without a loader for the
    /// file name's extension, InternalError with the system's message if the file cannot be opened.
    ///
    /// # Upstream
    /// `Module::LoadFromFile`, `tvm_ffi.load_module`.
    pub fn load(file: impl AsRef<FileName>) -> Result<Module> {
        let module = Module::from_file(&String::from_bytes(bytes(file.as_ref()))?)?;
        globals::keep(&module)?;
        Ok(module)
    }

    /// Returns the module of the compiled code that is linked into the program, with the symbols
    /// that have this prefix. The prefix is usually empty.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::module::Module;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let library = Module::system_lib("")?;
    /// assert!(library.get("no_such_kernel").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `tvm_ffi.system_lib`.
    pub fn system_lib(prefix: &str) -> Result<Module> {
        system_lib::module(&String::new(prefix)?)
    }

    /// Returns a function of this module or, if it has none of this name, of its imports.
    ///
    /// # Errors
    /// AttributeError if there is no such function; errors of the searched modules; MemoryError.
    ///
    /// # Upstream
    /// `Module.get_function` of the Python package, with imports.
    pub fn get(&self, name: &str) -> Result<Function> {
        let name = String::new(name)?;
        self.get_function(&name, true)?.ok_or_else(|| {
            plain_error!(ATTRIBUTE_ERROR, "Module has no function '{}'", name.as_bytes(); "no function {}", name.as_bytes())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::tagged;
    use super::*;
    use ferrite_core::ObjectClass;

    #[test]
    fn functions_of_a_module_and_of_its_imports_are_found() -> Result<()> {
        let (root, leaf) = (tagged(1, "f"), tagged(2, "g"));
        root.import_module(&leaf)?;
        assert_eq!(root.get("f")?.call_packed(&[])?.get::<i64>()?, 1);
        assert_eq!(root.get("g")?.call_packed(&[])?.get::<i64>()?, 2);
        let error = root.get("h").map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"AttributeError");
        assert!(
            error.message_bytes().ends_with(b"no function 'h'")
                || error.message_bytes() == b"no function h"
        );
        Ok(())
    }

    #[test]
    fn the_loader_of_a_file_is_chosen_by_its_extension() {
        let message = |file: &str| {
            let error = Module::load(file).map(drop).unwrap_err();
            std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
        };
        assert!(message("kernels.none").contains("ffi.Module.load_from_file.none"));
        assert!(message("kernels").contains("kernels"));
    }

    #[test]
    fn there_is_one_system_library_for_each_prefix() -> Result<()> {
        let module = Module::system_lib("by_name_")?;
        assert!(module.as_object().ptr_eq(Module::system_lib("by_name_")?.as_object()));
        assert!(module.get("missing").is_err());
        Ok(())
    }
}

//! Models from bytes, modules and files.

use ferrite_alloc_ext::module::Module;
use ferrite_core::Bytes;
use ferrite_core::error::Result;

use super::{Kernels, Model};
use crate::executable::{Executable, Source};
use crate::memory::Kind;

impl Model {
    /// Creates a model from a serialised executable, which is copied, and the source of its
    /// kernels.
    ///
    /// # Errors
    /// InternalError for a malformed executable or a missing kernel; errors of the kernels' source;
    /// TypeError if a Rust class of the program has the type key of executables or models;
    /// MemoryError.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{AnyView, Function, Result, Tensor};
    /// use ferrite_relax::model::{Kernels, Model};
    ///
    /// fn add_one(x: Tensor, out: Tensor) -> Result<()> {
    ///     let (mut sums, x) = (out.borrow_mut::<f32>()?, x.as_slice::<f32>()?);
    ///     sums.iter_mut().zip(&x).for_each(|(sum, x)| *sum = x + 1.0);
    ///     Ok(())
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let kernels = Kernels::from_fn(|name| match name {
    ///     "add" => Function::from_typed(add_one).map(Some),
    ///     _ => Ok(None),
    /// })?;
    /// # let executable = std::fs::read("../../tests/programs/relax/models/chain/bytecode.vm").unwrap();
    /// // 1000 additions of 1
    /// let model = Model::from_bytes(&executable, kernels)?;
    /// let x = Tensor::from_slice(&[0f32, 1.0, 2.0, 3.0], &[4])?;
    /// let y: Tensor = model.call_packed("main", &[AnyView::from(&x)])?.get()?;
    /// assert_eq!(y.as_slice::<f32>()?, [1000.0, 1001.0, 1002.0, 1003.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_bytes(executable: &[u8], kernels: Kernels) -> Result<Model> {
        let executable = Executable::load(Source::Bytes(Bytes::new(executable)?))?;
        Model::new(executable, Kind::Pooled, kernels)
    }

    /// Creates a model from a module of kind `relax.VMExecutable`, whose kernels are in its
    /// imports.
    ///
    /// # Errors
    /// TypeError for any other module, and if a Rust class of the program has the type key of
    /// models; InternalError for a missing kernel; MemoryError.
    pub fn from_module(module: &Module) -> Result<Model> {
        crate::module::model(module)
    }

    /// Loads a library written by TVM's `export_library`. A path without a folder refers to the
    /// current folder.
    ///
    /// Loading runs the library's initialisers, as opening any library does. Its kernels must be
    /// those of the model. The library stays loaded until the process ends: see [`Module::load`].
    /// [`load_from_file`](Model::load_from_file) closes it.
    ///
    /// # Errors
    /// InternalError for a file that cannot be opened, a malformed executable or a missing kernel;
    /// TypeError for a library without a whole model, and if a Rust class of the program has the
    /// type key of executables or models; RuntimeError in a program that has no loader of
    /// libraries, which is part of `ferrite-ffi-host`; MemoryError.
    ///
    /// # Upstream
    /// `relax.VirtualMachine(tvm.runtime.load_module(path), tvm.cpu())`.
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Model> {
        let file = file::name(path.as_ref())?;
        Model::from_module(&Module::load(file.as_str().unwrap_or_default())?)
    }

    /// Loads a library as [`load`](Model::load) does, but closes it with the last reference to the
    /// model and its functions.
    ///
    /// # Errors
    /// Same errors as [`load`](Model::load).
    ///
    /// # Safety
    /// Same requirements as [`Module::load_from_file`]: everything created by the library's code
    /// must be released before the model.
    #[cfg(feature = "std")]
    pub unsafe fn load_from_file(path: impl AsRef<std::path::Path>) -> Result<Model> {
        let file = file::name(path.as_ref())?;
        // SAFETY: guaranteed by the caller.
        Model::from_module(&unsafe { Module::load_from_file(&file)? })
    }
}

#[cfg(feature = "std")]
mod file {
    use std::path::Path;

    use ferrite_core::error::Result;
    use ferrite_core::platform::memory::Buffer;
    use ferrite_core::{String, plain_bail};

    /// Returns a path as text. The system searches for names without a folder elsewhere, so they
    /// get one.
    pub(super) fn name(path: &Path) -> Result<String> {
        let Some(text) = path.to_str() else {
            plain_bail!(INTERNAL_ERROR, "Cannot open {}", path.as_os_str().as_encoded_bytes());
        };
        if text.is_empty() || text.contains(std::path::MAIN_SEPARATOR) {
            return String::new(text);
        }
        let mut name = Buffer::try_with_capacity(2 + text.len())?;
        name.try_extend_from_slice(b"./")?;
        name.try_extend_from_slice(text.as_bytes())?;
        String::from_bytes(&name)
    }
}

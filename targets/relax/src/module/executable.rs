//! Modules of kind `relax.VMExecutable`: compiled models.

use core::ffi::CStr;

use ferrite_alloc_ext::module::{BINARY_SERIALIZABLE, Module, ModuleImpl};
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Bytes, Function, ObjectRef, String, plain_bail};

use super::builtins;
#[cfg(feature = "std")]
use super::file;
use super::held::Held;
use super::machine::MachineModule;
use super::text;
use crate::executable::{Executable, FunctionKind, Source};
use crate::machine::Machine;
use crate::memory::Kind;
use crate::model::{Kernels, Model};

/// Module implementation of a compiled model.
struct ExecutableModule {
    executable: Executable,
}

/// A method of the module. Takes its arguments, and returns its result.
type Method = fn(&Held<ExecutableModule>, &[AnyView<'_>]) -> Result<Any>;

/// Creates a row of [`METHODS`]. Builds for web pages link those that a module's user names.
macro_rules! method {
    ($name:literal, $run:expr) => {
        (
            $name,
            ferrite_core::optional_method!(
                &Held<ExecutableModule>,
                $run,
                "relax.VMExecutable.",
                $name
            ),
        )
    };
}

const METHODS: &[(&str, Method)] = &[
    ("vm_load_executable", |this, _| Ok(new_machine(this)?.into())),
    ("has_function", |this, args| Ok(this.executable.find(text(args, 0)?).is_some().into())),
    method!("stats", |this, _| Ok(this.executable.stats()?.into())),
    method!("as_text", |this, _| Ok(this.executable.as_text()?.into())),
    method!("as_python", |this, _| Ok(this.executable.as_python()?.into())),
];

impl ModuleImpl for ExecutableModule {
    fn kind(&self) -> &CStr {
        c"relax.VMExecutable"
    }

    fn property_mask(&self) -> i32 {
        BINARY_SERIALIZABLE
    }

    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>> {
        let Some((_, method)) = METHODS.iter().find(|(key, _)| key.as_bytes() == name.as_bytes())
        else {
            return Ok(None);
        };
        // SAFETY: this is the implementation of the module.
        let held = unsafe { Held::new(module, self) };
        Function::from_packed(move |args| method(&held, args)).map(Some)
    }

    fn save_to_bytes(&self) -> Result<Bytes> {
        self.executable.save()
    }

    #[cfg(feature = "std")]
    fn write_to_file(&self, file: &String, _format: &String) -> Result<()> {
        file::write(file, &self.executable.save()?)
    }
}

/// Creates a machine for the executable. The machine's module gets the same imports.
fn new_machine(this: &Held<ExecutableModule>) -> Result<Module> {
    let is_native =
        this.executable.functions().iter().any(|function| function.kind == FunctionKind::Compiled);
    let machine = Module::from_impl(MachineModule::new(Machine::new(this.executable.clone())))?;
    for import in this.module().imports()?.as_slice() {
        let Some(import) = import.as_object().and_then(ObjectRef::as_class::<Module>) else {
            continue;
        };
        if is_native {
            builtins::provide(import)?;
        }
        machine.import_module(import)?;
    }
    Ok(machine)
}

/// Creates a module from a serialised executable.
///
/// # Errors
/// Errors of [`Executable::load`]; MemoryError.
pub fn load(source: Source) -> Result<Module> {
    Module::from_impl(ExecutableModule { executable: Executable::load(source)? })
}

/// Creates a model on the CPU from the module of an executable.
///
/// # Errors
/// TypeError for any other module; errors of [`Model::new`].
pub fn model(module: &Module) -> Result<Model> {
    let Some(this) = module.implementation::<ExecutableModule>() else {
        plain_bail!(
            TYPE_ERROR,
            "The library has no Relax executable, but a module of kind `{}`",
            module.kind()?.to_bytes()
        );
    };
    let imports = module.imports()?;
    let is_native =
        this.executable.functions().iter().any(|function| function.kind == FunctionKind::Compiled);
    for import in imports.as_slice().iter().filter(|_| is_native) {
        if let Some(import) = import.as_object().and_then(ObjectRef::as_class::<Module>) {
            builtins::provide(import)?;
        }
    }
    Model::new(this.executable.clone(), Kind::Pooled, Kernels::in_modules(imports))
}

/// Implements `ffi.Module.load_from_bytes.relax.VMExecutable`.
///
/// # Errors
/// TypeError unless the argument is Bytes; errors of [`load`].
pub fn load_from_bytes(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [bytes] => Ok(load(Source::Bytes(bytes.get()?))?.into()),
        _ => {
            plain_bail!(
                TYPE_ERROR,
                "A loader takes the bytes of a module, but got {} arguments",
                args.len()
            )
        }
    }
}

/// Loads an executable from a file. It has no imports, so its kernels must be imported or be global
/// functions.
///
/// # Errors
/// InternalError if the file cannot be read; errors of [`load`]; MemoryError.
///
/// # Upstream
/// `relax.ExecutableLoadFromFile` and `ffi.Module.load_from_file.relax.VMExecutable`.
#[cfg(feature = "std")]
pub fn load_from_file(name: String) -> Result<Module> {
    load(Source::Bytes(file::read(file::path(&name)?)?))
}

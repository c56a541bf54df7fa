//! Module of the builtins. A library of native functions looks up builtins by name, in its imports
//! before the global table. Through this import it finds the builtins of this crate, which match
//! its machine, whichever runtime registered the global names.

use core::ffi::CStr;

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::module::{Module, ModuleImpl};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::stack;
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::{Any, Function, ObjectRef, String};

use crate::builtins::{self, Builtin};

const KIND: &CStr = c"relax.builtins";

/// Kind of modules whose code may call builtins.
const LIBRARY_KIND: &CStr = c"library";

struct Builtins;

impl ModuleImpl for Builtins {
    fn kind(&self) -> &CStr {
        KIND
    }

    fn get_function(&self, _module: &Module, name: &String) -> Result<Option<Function>> {
        builtins::find(name.as_bytes()).map(kept).transpose()
    }
}

/// Function objects of the builtins that libraries looked up, by name. They are never freed: native
/// code caches a function until its library is closed, which may be later than the end of the
/// module that found it.
static KEPT: ObjectMutex<Buffer<(&'static str, Function)>> = ObjectMutex::new(Buffer::new());

fn find_kept(kept: &[(&'static str, Function)], name: &str) -> Option<Function> {
    kept.iter().find(|(key, _)| *key == name).map(|(_, function)| function.clone())
}

/// Returns the function object of a builtin. All calls return the same one.
fn kept(builtin: &'static Builtin) -> Result<Function> {
    if let Some(function) = KEPT.with_mut(|kept| find_kept(kept, builtin.name())) {
        return Ok(function);
    }
    let made = builtin.function.to_function()?;
    // `made` is dropped after unlocking, if another thread was faster.
    let function = KEPT.with_mut(|kept| match find_kept(kept, builtin.name()) {
        Some(function) => Ok(function),
        None => kept.try_push((builtin.name(), made.clone())).map(|()| made.clone()),
    });
    Ok(function?)
}

/// Creates a module whose functions are the builtins of this library, whichever runtime registered
/// their global names.
///
/// # Errors
/// MemoryError.
pub fn builtins_module() -> Result<Module> {
    Module::from_impl(Builtins)
}

fn modules(imports: &ArrayObject) -> impl Iterator<Item = &Module> {
    imports
        .as_slice()
        .iter()
        .filter_map(|module: &Any| module.as_object().and_then(ObjectRef::as_class::<Module>))
}

/// Makes each library among a module and its transitive imports import the builtins, unless it
/// already does.
///
/// # Errors
/// MemoryError; errors of the modules.
pub(super) fn provide(module: &Module) -> Result<()> {
    let imports = module.imports()?;
    for import in modules(&imports) {
        stack::nest(|| provide(import))?;
    }
    if module.kind()? != LIBRARY_KIND {
        return Ok(());
    }
    for import in modules(&imports) {
        if import.kind()? == KIND {
            return Ok(());
        }
    }
    module.import_module(&builtins_module()?)
}

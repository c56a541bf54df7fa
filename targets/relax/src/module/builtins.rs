//! The builtins as a module. A library whose functions are native code looks them up by name, among its imports before the global table:
//! by this import it finds those of this crate, which fit its machine, whoever owns the global names.

use core::ffi::CStr;

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::module::{Module, ModuleImpl};
use ferrite_core::error::Result;
use ferrite_core::{Any, Function, ObjectRef, String, stack};

use crate::builtins;

const KIND: &CStr = c"relax.builtins";

/// The kind of the modules whose code may call builtins.
const LIBRARY_KIND: &CStr = c"library";

struct Builtins;

impl ModuleImpl for Builtins {
    fn kind(&self) -> &CStr {
        KIND
    }

    fn get_function(&self, _module: &Module, name: &String) -> Result<Option<Function>> {
        builtins::find(name.as_bytes()).map(|builtin| builtin.function.to_function()).transpose()
    }
}

fn modules(imports: &ArrayObject) -> impl Iterator<Item = &Module> {
    imports
        .as_slice()
        .iter()
        .filter_map(|module: &Any| module.as_object().and_then(ObjectRef::as_class::<Module>))
}

/// Makes all libraries below a module import the builtins, unless they do.
///
/// # Errors
/// MemoryError; those of the modules.
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
    module.import_module(&Module::from_impl(Builtins)?)
}

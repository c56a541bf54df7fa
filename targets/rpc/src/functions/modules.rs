//! Functions and imports of modules that a client has handles of.

use ferrite_alloc_ext::module::Module;
use ferrite_core::{Any, AnyView, Result, String, plain_bail};

/// Finds a function of a module, and in its imports if that is wanted: (module, name, whether to
/// search the imports) → function or None.
///
/// # Upstream
/// `tvm.rpc.server.ModuleGetFunction`.
pub(super) fn get_function(args: &[AnyView<'_>]) -> Result<Any> {
    let [module, name, with_imports] = args else {
        plain_bail!(TYPE_ERROR, "ModuleGetFunction takes 3 arguments, but got {}", args.len());
    };
    let found =
        module.get::<Module>()?.get_function(&name.get::<String>()?, with_imports.get()?)?;
    Ok(found.map_or(Any::NONE, Any::from))
}

/// Adds a module to the imports of another one: (module, import).
///
/// # Upstream
/// `tvm.rpc.server.ImportModule`.
pub(super) fn import(args: &[AnyView<'_>]) -> Result<Any> {
    let [module, import] = args else {
        plain_bail!(TYPE_ERROR, "ImportModule takes 2 arguments, but got {}", args.len());
    };
    module.get::<Module>()?.import_module(&import.get::<Module>()?)?;
    Ok(Any::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_functions_and_imports() -> Result<()> {
        let (one, other) = (Module::system_lib("rpc_one_")?, Module::system_lib("rpc_other_")?);
        let name = String::new("absent")?;
        let found = get_function(&[(&one).into(), (&name).into(), true.into()])?;
        assert!(AnyView::from(&found).is_none());
        import(&[(&one).into(), (&other).into()])?;
        assert_eq!(one.imports()?.len(), 1);
        for args in [&[][..], &[AnyView::NONE; 3], &[(&one).into(), 1i64.into(), true.into()]] {
            assert!(get_function(args).is_err());
        }
        assert!(import(&[(&one).into(), AnyView::NONE]).is_err());
        Ok(())
    }
}

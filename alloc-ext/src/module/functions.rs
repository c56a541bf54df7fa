//! Global functions `ffi.Module*` and `ffi.SystemLib`.

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::{Any, AnyView, Function, String, static_function};

use super::calls::ModuleOperation;
use super::{Module, system_lib};
use crate::containers::Array;
use crate::operation::operation;

/// Static function table of this module.
///
/// # Upstream
/// The registrations in `module.cc` and `library_module_system_lib.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    operation!(owning LoadFromFile of ModuleOperation, "ffi.ModuleLoadFromFile", (String) -> Module),
    operation!(owning ImplementsFunction of ModuleOperation, "ffi.ModuleImplementsFunction", (Module, String, bool) -> bool),
    operation!(owning GetMetadata of ModuleOperation, "ffi.ModuleGetFunctionMetadata", (Module, String, bool) -> Option<String>),
    operation!(owning GetDoc of ModuleOperation, "ffi.ModuleGetFunctionDoc", (Module, String, bool) -> Option<String>),
    operation!(hot owning GetFunction of ModuleOperation, "ffi.ModuleGetFunction", (Module, String, bool) -> Option<Function>),
    operation!(owning GetPropertyMask of ModuleOperation, "ffi.ModuleGetPropertyMask", (Module) -> i64),
    operation!(owning InspectSource of ModuleOperation, "ffi.ModuleInspectSource", (Module, String) -> String),
    operation!(owning GetKind of ModuleOperation, "ffi.ModuleGetKind", (Module) -> String),
    operation!(owning GetWriteFormats of ModuleOperation, "ffi.ModuleGetWriteFormats", (Module) -> Array<String>),
    operation!(owning WriteToFile of ModuleOperation, "ffi.ModuleWriteToFile", (Module, String, String) -> ()),
    operation!(owning ImportModule of ModuleOperation, "ffi.ModuleImportModule", (Module, Module) -> ()),
    operation!(owning ClearImports of ModuleOperation, "ffi.ModuleClearImports", (Module) -> ()),
    operation!(owning GlobalsAdd of ModuleOperation, "ffi.ModuleGlobalsAdd", (Module) -> ()),
    operation!(owning GlobalsRemove of ModuleOperation, "ffi.ModuleGlobalsRemove", (Module) -> ()),
    static_function!(packed "ffi.SystemLib", system_lib),
];

/// Implements `ffi.SystemLib([prefix])`: returns the system library for a prefix, empty by default.
fn system_lib(args: &[AnyView<'_>]) -> Result<Any> {
    let prefix = match args.first() {
        Some(prefix) => prefix.get::<String>()?,
        None => String::new("")?,
    };
    system_lib::module(&prefix).map(Any::from)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;
    use ferrite_core::error::message::SHORT;

    fn call(function: &str, args: &[AnyView<'_>]) -> Result<Any> {
        let found = FUNCTIONS.iter().find(|known| known.name() == function).unwrap();
        found.to_function()?.call_packed(args)
    }

    #[test]
    fn modules_are_used_by_name() -> Result<()> {
        let (root, leaf) = (tagged(1, "f"), tagged(2, "g"));
        let (root, leaf, g) = (AnyView::from(&root), AnyView::from(&leaf), name("g"));
        let g = AnyView::from(&g);
        assert_eq!(call("ffi.ModuleGetKind", &[root])?.get::<String>()?, "tagged");
        assert_eq!(call("ffi.ModuleGetPropertyMask", &[root])?.get::<i64>()?, 0);
        call("ffi.ModuleImportModule", &[root, leaf])?;
        assert!(call("ffi.ModuleGetFunction", &[root, g, false.into()])?.is_none());
        let function = call("ffi.ModuleGetFunction", &[root, g, true.into()])?.get::<Function>()?;
        assert_eq!(function.call_packed(&[])?.get::<i64>()?, 2);
        assert!(call("ffi.ModuleImplementsFunction", &[root, g, true.into()])?.get::<bool>()?);
        assert!(call("ffi.ModuleGetFunctionDoc", &[root, g, true.into()])?.is_none());
        assert!(call("ffi.ModuleGetFunctionMetadata", &[root, g, true.into()])?.is_none());
        assert_eq!(call("ffi.ModuleInspectSource", &[root, g])?.get::<String>()?, "");
        assert_eq!(
            call("ffi.ModuleWriteToFile", &[root, g, g]).map(drop).unwrap_err().kind_bytes(),
            b"RuntimeError"
        );
        call("ffi.ModuleGlobalsAdd", &[root])?;
        call("ffi.ModuleGlobalsRemove", &[root])?;
        call("ffi.ModuleClearImports", &[root])?;
        assert!(call("ffi.ModuleGetFunction", &[root, g, true.into()])?.is_none());
        Ok(())
    }

    #[test]
    fn the_file_name_says_which_loader() -> Result<()> {
        let error = |file: &str| {
            let error = call("ffi.ModuleLoadFromFile", &[AnyView::from(&name(file))])
                .map(drop)
                .unwrap_err();
            assert_eq!(error.kind_bytes(), b"RuntimeError");
            std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
        };
        assert_eq!(error("no_dot"), "Failed to get file format from no_dot");
        let missing = if SHORT {
            "There is no ffi.Module.load_from_file.nope"
        } else {
            "Loader for `.nope` files is not registered, resolved to (ffi.Module.load_from_file.nope) in the global \
             registry.Ensure that you have loaded the correct runtime code, andthat you are on the correct hardware \
             architecture."
        };
        assert_eq!(error("a.b.nope"), missing);
        let loader = Function::from_typed(|file: String, format: String| {
            assert_eq!(format, "so");
            let tag = file.as_bytes().len() as i64;
            Module::from_impl(super::super::testing::Tagged(tag, "f"))
        })?;
        Function::set_global("ffi.Module.load_from_file.so", &loader, true)?;
        for file in ["x.so", "x.dll", "x.dylib", "x.dso"] {
            let module =
                call("ffi.ModuleLoadFromFile", &[AnyView::from(&name(file))])?.get::<Module>()?;
            assert_eq!(module.kind()?, c"tagged");
        }
        Ok(())
    }

    #[test]
    fn a_loader_that_asks_for_what_it_loads_ends() -> Result<()> {
        let loader = Function::from_typed(|file: String, _: String| Module::from_file(&file))?;
        Function::set_global("ffi.Module.load_from_file.itself", &loader, false)?;
        let error = call("ffi.ModuleLoadFromFile", &[AnyView::from(&name("a.itself"))])
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert!(error.message_bytes().starts_with(b"Calls are nested too deep: "));
        Ok(())
    }

    #[test]
    fn the_system_library_takes_a_prefix() -> Result<()> {
        assert_eq!(call("ffi.SystemLib", &[])?.get::<Module>()?.kind()?, c"library");
        let prefix = name("functions_");
        assert_eq!(
            call("ffi.SystemLib", &[AnyView::from(&prefix)])?.get::<Module>()?.kind()?,
            c"library"
        );
        assert_eq!(
            call("ffi.SystemLib", &[5i64.into()]).map(drop).unwrap_err().kind_bytes(),
            b"TypeError"
        );
        Ok(())
    }
}

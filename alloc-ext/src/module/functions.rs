//! The global functions `ffi.Module*` and `ffi.SystemLib`.
#![forbid(unsafe_code)]

use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, String, static_function};

use super::{Module, globals, system_lib};
use crate::containers::Array;

/// The functions of this module.
///
/// # Upstream
/// The registrations in `module.cc` and `library_module_system_lib.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!("ffi.ModuleLoadFromFile", load_from_file),
    static_function!("ffi.ModuleImplementsFunction", implements_function),
    static_function!("ffi.ModuleGetFunctionMetadata", function_metadata),
    static_function!("ffi.ModuleGetFunctionDoc", function_doc),
    static_function!("ffi.ModuleGetFunction", get_function),
    static_function!("ffi.ModuleGetPropertyMask", property_mask),
    static_function!("ffi.ModuleInspectSource", inspect_source),
    static_function!("ffi.ModuleGetKind", kind),
    static_function!("ffi.ModuleGetWriteFormats", write_formats),
    static_function!("ffi.ModuleWriteToFile", write_to_file),
    static_function!("ffi.ModuleImportModule", import_module),
    static_function!("ffi.ModuleClearImports", clear_imports),
    static_function!("ffi.ModuleGlobalsAdd", globals_add),
    static_function!("ffi.ModuleGlobalsRemove", globals_remove),
    static_function!(packed "ffi.SystemLib", system_lib),
];

fn load_from_file(file: String) -> Result<Module> {
    Module::load_from_file(&file)
}

fn implements_function(module: Module, name: String, query_imports: bool) -> Result<bool> {
    module.implements_function(&name, query_imports)
}

fn function_metadata(module: Module, name: String, query_imports: bool) -> Result<Option<String>> {
    module.function_metadata(&name, query_imports)
}

fn function_doc(module: Module, name: String, query_imports: bool) -> Result<Option<String>> {
    module.function_doc(&name, query_imports)
}

fn get_function(module: Module, name: String, query_imports: bool) -> Result<Option<Function>> {
    module.get_function(&name, query_imports)
}

fn property_mask(module: Module) -> Result<i32> {
    module.property_mask()
}

fn inspect_source(module: Module, format: String) -> Result<String> {
    module.inspect_source(&format)
}

fn kind(module: Module) -> Result<String> {
    String::from_bytes(module.kind()?.to_bytes())
}

fn write_formats(module: Module) -> Result<Array<String>> {
    module.write_formats()
}

fn write_to_file(module: Module, file: String, format: String) -> Result<()> {
    module.write_to_file(&file, &format)
}

fn import_module(module: Module, other: Module) -> Result<()> {
    module.import_module(&other)
}

fn clear_imports(module: Module) -> Result<()> {
    module.clear_imports()
}

fn globals_add(module: Module) -> Result<()> {
    globals::add(&module)
}

fn globals_remove(module: Module) {
    globals::remove(&module);
}

/// `ffi.SystemLib([prefix])`.
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

    fn call(function: &str, args: &[AnyView<'_>]) -> Result<Any> {
        let found = FUNCTIONS.iter().find(|known| known.name == function).unwrap();
        found.to_function()?.call(args)
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
        assert_eq!(function.call(&[])?.get::<i64>()?, 2);
        assert!(call("ffi.ModuleImplementsFunction", &[root, g, true.into()])?.get::<bool>()?);
        assert!(call("ffi.ModuleGetFunctionDoc", &[root, g, true.into()])?.is_none());
        assert!(call("ffi.ModuleGetFunctionMetadata", &[root, g, true.into()])?.is_none());
        assert_eq!(call("ffi.ModuleInspectSource", &[root, g])?.get::<String>()?, "");
        assert_eq!(
            call("ffi.ModuleWriteToFile", &[root, g, g]).map(drop).unwrap_err().kind(),
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
            let error = call("ffi.ModuleLoadFromFile", &[AnyView::from(&name(file))]).map(drop).unwrap_err();
            assert_eq!(error.kind(), b"RuntimeError");
            std::string::String::from_utf8_lossy(error.message()).into_owned()
        };
        assert_eq!(error("no_dot"), "Failed to get file format from no_dot");
        assert_eq!(
            error("a.b.nope"),
            "Loader for `.nope` files is not registered, resolved to (ffi.Module.load_from_file.nope) in the global \
             registry.Ensure that you have loaded the correct runtime code, andthat you are on the correct hardware \
             architecture."
        );
        let loader = Function::from_typed(|file: String, format: String| {
            assert_eq!(format, "so");
            let tag = file.as_bytes().len() as i64;
            Module::from_impl(super::super::testing::Tagged(tag, "f"))
        })?;
        Function::set_global("ffi.Module.load_from_file.so", &loader, true)?;
        for file in ["x.so", "x.dll", "x.dylib", "x.dso"] {
            let module = call("ffi.ModuleLoadFromFile", &[AnyView::from(&name(file))])?.get::<Module>()?;
            assert_eq!(module.kind()?, c"tagged");
        }
        Ok(())
    }

    #[test]
    fn the_system_library_takes_a_prefix() -> Result<()> {
        assert_eq!(call("ffi.SystemLib", &[])?.get::<Module>()?.kind()?, c"library");
        let prefix = name("functions_");
        assert_eq!(call("ffi.SystemLib", &[AnyView::from(&prefix)])?.get::<Module>()?.kind()?, c"library");
        assert_eq!(call("ffi.SystemLib", &[5i64.into()]).map(drop).unwrap_err().kind(), b"TypeError");
        Ok(())
    }
}

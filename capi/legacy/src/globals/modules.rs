//! Global functions for modules: `module.*` up to 0.6, `runtime.Module*` since 0.7.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::device;
use ferrite_alloc_ext::module::{Module, system_lib};
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::{Any, AnyView, String, plain_bail, static_function};

use crate::module::load;

/// Module functions of TVM 0.7 and later.
pub const RUNTIME: &[StaticFunction] = &[
    static_function!(packed "runtime.ModuleLoadFromFile", load_from_file),
    static_function!("runtime.ModuleGetTypeKey", type_key),
    static_function!(packed "runtime.ModuleGetSource", source),
    static_function!("runtime.ModuleImportsSize", imports_size),
    static_function!("runtime.ModuleGetImport", import),
    static_function!("runtime.ModuleClearImports", clear_imports),
    static_function!("runtime.ModuleSaveToFile", save_to_file),
    static_function!("runtime.ModuleImplementsFunction", implements_function),
    static_function!("runtime.ModuleGetFormat", format),
    static_function!("runtime.ModuleGetPropertyMask", property_mask),
    static_function!(packed "runtime.SystemLib", system_library),
];

/// Functions for libraries without device back ends.
pub const RUNTIME_WITHOUT_BACK_ENDS: &[StaticFunction] =
    &[static_function!("runtime.RuntimeEnabled", is_enabled)];

/// Module functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] = &[
    static_function!(packed "module._LoadFromFile", load_from_file),
    static_function!(packed "module.loadfile_so", load_from_file),
    static_function!(packed "module._GetSystemLib", system_library),
    static_function!("module._GetTypeKey", old_type_key),
    static_function!(packed "module._GetSource", source),
    static_function!("module._ImportsSize", imports_size),
    static_function!("module._GetImport", import),
    static_function!("module._SaveToFile", save_to_file),
    static_function!("module._Enabled", is_enabled),
];

/// Returns the string argument at a position, or an empty string if it is missing or None.
fn text_at(args: &[AnyView<'_>], place: usize) -> Result<String> {
    match args.get(place) {
        Some(text) if !text.is_none() => text.get(),
        _ => String::new(""),
    }
}

/// Loads a module from a file. Takes `(file[, format])`.
fn load_from_file(args: &[AnyView<'_>]) -> Result<Any> {
    let (file, format) = (text_at(args, 0)?, text_at(args, 1)?);
    load(file.as_bytes(), format.as_bytes()).map(Any::from)
}

/// Returns the system library. Takes `([prefix])`.
fn system_library(args: &[AnyView<'_>]) -> Result<Any> {
    system_lib::module(&text_at(args, 0)?).map(Any::from)
}

fn type_key(module: Module) -> Result<String> {
    String::from_bytes(module.kind()?.to_bytes())
}

/// Returns the type key of a module under its name up to 0.6, where libraries are `dso`, and the
/// system library is `system_lib`.
fn old_type_key(module: Module) -> Result<String> {
    match module.kind()?.to_bytes() {
        b"library" if system_lib::is_system_library(&module) => String::new("system_lib"),
        b"library" => String::new("dso"),
        kind => String::from_bytes(kind),
    }
}

/// Returns the source code of a module. Takes `(module[, format])`.
///
/// # Errors
/// InternalError for a module without source, such as a library; TypeError if the first argument is
/// not a module; errors of the module.
fn source(args: &[AnyView<'_>]) -> Result<Any> {
    let Some(module) = args.first() else { plain_bail!(TYPE_ERROR, "A module was expected") };
    let module = module.get::<Module>()?;
    let source = module.inspect_source(&text_at(args, 1)?)?;
    if source.as_bytes().is_empty() {
        plain_bail!(
            INTERNAL_ERROR,
            "Module[{}] does not support GetSource",
            module.kind()?.to_bytes()
        );
    }
    Ok(Any::from(source))
}

fn imports_size(module: Module) -> Result<i64> {
    Ok(module.imports()?.len() as i64)
}

fn import(module: Module, index: i64) -> Result<Any> {
    let imports: ArrayObject = module.imports()?;
    imports.get(index).cloned()
}

fn clear_imports(module: Module) -> Result<()> {
    module.clear_imports()
}

fn save_to_file(module: Module, file: String, format: String) -> Result<()> {
    module.write_to_file(&file, &format)
}

fn implements_function(module: Module, name: String, query_imports: bool) -> Result<bool> {
    module.implements_function(&name, query_imports)
}

/// Returns the first format in which a module can be saved, or an empty string if there is none.
fn format(module: Module) -> Result<String> {
    module.write_formats()?.get(0).or_else(|_| String::new(""))
}

fn property_mask(module: Module) -> Result<i64> {
    module.property_mask().map(i64::from)
}

/// Returns `true` if this build can run code for a target: `cpu`, `llvm`, `c`, `stackvm` or a
/// device type with a back end.
///
/// # Errors
/// InternalError for an unknown target.
fn is_enabled(target: String) -> Result<bool> {
    let name = target.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
    match name {
        b"cpu" | b"llvm" | b"c" | b"stackvm" => Ok(true),
        _ => match DLDevice::try_parse(name) {
            Some(device) => Ok(device::find(device.device_type).is_some()),
            None => plain_bail!(INTERNAL_ERROR, "Unknown optional runtime {}", name),
        },
    }
}

//! Libraries whose code is in use when the program has dropped their modules. With glibc they find
//! the symbols of the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrite::module::ModuleImpl;
use ferrite::{Any, Function, Module, ObjectClass, Result, String};

/// Compiles the library that makes functions, under a name of its own.
fn library(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    compiler
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-I"])
        .arg(package.join("../../include"));
    compiler.arg(package.join("tests/safe/unloading.c")).arg("-o").arg(&library);
    let status = compiler.status().expect("a C compiler");
    assert!(status.success(), "{compiler:?}");
    library
}

/// Returns `true` if the library is mapped.
fn is_mapped(library: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the system lists what is mapped");
    maps.contains(library.to_str().expect("a path in UTF-8"))
}

/// Checks that a function of the library runs and is destroyed without the module.
fn check(made: Function, library: &Path) -> Result<()> {
    assert!(is_mapped(library));
    let other = made.clone();
    assert_eq!(made.call::<i64>(())?, 41);
    drop((made, other));
    Ok(())
}

#[test]
fn objects_of_a_library_outlive_its_module() -> Result<()> {
    let library = library("safe_unloading");
    let module = Module::load(&library)?;
    let make = module.get("make")?;
    let made: Function = make.call(())?;
    drop((module, make));
    check(made, &library)
}

#[test]
fn a_library_that_is_kept_is_not_given_up_by_name() -> Result<()> {
    let library = library("safe_removing");
    let module = Module::load(&library)?;
    let made: Function = module.get("make")?.call(())?;
    Function::global("ffi.ModuleGlobalsRemove")?.call::<()>((&module,))?;
    drop(module);
    check(made, &library)
}

/// A module without functions.
struct Empty;

impl ModuleImpl for Empty {
    fn kind(&self) -> &core::ffi::CStr {
        c"empty"
    }

    fn get_function(&self, _: &Module, _: &String) -> Result<Option<Function>> {
        Ok(None)
    }
}

#[test]
fn a_library_that_another_module_imports_is_kept() -> Result<()> {
    let library = library("safe_importing");
    let path = library.to_str().expect("a path in UTF-8").to_owned();
    // A loader whose module imports the library.
    let load = move |_: String, _: String| -> Result<Module> {
        let module = Module::from_impl(Empty)?;
        let code: Module = Function::global("ffi.ModuleLoadFromFile")?.call((&path,))?;
        module.import_module(&code)?;
        Ok(module)
    };
    Function::set_global(
        "ffi.Module.load_from_file.importing",
        &Function::from_typed(load)?,
        false,
    )?;
    let module = Module::load("any.importing")?;
    assert_eq!(module.as_object().strong_count(), 1, "only code is kept");
    let made: Function = module.get("make")?.call(())?;
    module.clear_imports()?;
    drop(Any::from(module));
    check(made, &library)
}

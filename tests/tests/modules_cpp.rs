//! Modules shared with upstream's inline C++ code, which calls them through their virtual tables.
//!
//! Ignored, since it needs upstream's headers and a C++ compiler (`CXX`, or `c++`). `FERRITE_LIBRARY_DIR` set to
//! upstream's library runs the same program against that.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Library, Outcome, output_of, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler command for one source of `tests/cpp`.
fn compile(source: &str, target: &Path, flags: &[&str]) -> Outcome<Command> {
    let library = Library::get()?;
    let wheel = output_of(&mut Command::new(root().join("tests/upstream/wheel.sh")))?;
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or("c++".into()));
    compiler.args(["-std=c++17", "-O1", "-gdwarf-4", "-fPIC"]).args(flags);
    compiler.arg("-I").arg(Path::new(wheel.trim()).join("tvm_ffi/include"));
    compiler.arg(root().join("tests/cpp").join(source)).arg("-o").arg(target);
    compiler.arg("-L").arg(library.folder()).arg("-ltvm_ffi");
    compiler.arg(format!("-Wl,-rpath,{}", library.folder().display()));
    if cfg!(target_os = "linux") {
        compiler.arg("-Wl,--disable-new-dtags");
    }
    Ok(compiler)
}

fn run(name: &str, flags: &[&str]) -> Outcome<()> {
    let folder: PathBuf = scratch("modules_cpp")?;
    let (program, loaded) = (folder.join(name), folder.join(format!("{name}.so")));
    output_of(compile("modules_library.cc", &loaded, flags)?.arg("-shared"))?;
    output_of(&mut compile("modules.cc", &program, flags)?)?;
    assert_eq!(output_of(Command::new(&program).arg(&loaded))?.trim(), "OK");
    Ok(())
}

#[test]
#[ignore = "downloads upstream's headers: ./ci.sh cpp"]
fn both_sides_use_one_module() -> Outcome<()> {
    run("plain", &[])
}

#[test]
#[ignore = "downloads upstream's headers: ./ci.sh cpp"]
fn both_sides_use_one_module_without_memory_errors() -> Outcome<()> {
    run("sanitized", &["-fsanitize=address"])
}

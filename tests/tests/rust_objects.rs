//! Uses the classes and functions of `tests/programs/rust_objects`, a library in Rust, from C++ and
//! C.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, require, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn folder() -> PathBuf {
    root().join("tests/programs/rust_objects")
}

/// Builds the library in Rust, once.
fn objects() -> Outcome<PathBuf> {
    static BUILT: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build_objects).clone()
}

fn build_objects() -> Outcome<PathBuf> {
    let target = scratch("rust_objects")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--locked", "--manifest-path"]).arg(folder().join("Cargo.toml"));
    output_of(cargo.arg("--target-dir").arg(&target))?;
    Ok(target.join("debug").join(format!(
        "{}rust_objects{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    )))
}

#[test]
fn the_counter_takes_at_most_twenty_lines_without_unsafe() -> Outcome<()> {
    let source = std::fs::read_to_string(folder().join("src/counter.rs"))?;
    assert!(source.lines().count() <= 20 && !source.contains("unsafe"), "{source}");
    Ok(())
}

#[test]
#[ignore = "builds the library for C++ clients and a library in Rust: ./ci.sh rust-objects"]
fn c_code_uses_a_class_by_reflection() -> Outcome<()> {
    let program = Cc::program(scratch("rust_objects")?.join("client_c")).strict();
    let program = program.source(folder().join("client.c")).link_shared(Library::with_cxx()?)?;
    let printed = output_of(Command::new(program).arg(objects()?))?;
    let expected =
        "add: 42\nvalue at 24: The value so far.\nvalue: 42, in place 42\nvalue: 7\nCounts.\n";
    assert_eq!(printed, expected);
    Ok(())
}

#[test]
#[ignore = "needs upstream's headers: ./ci.sh rust-objects"]
fn cxx_code_uses_and_derives_classes() -> Outcome<()> {
    let program = cxx_client(Library::with_cxx()?)?;
    let printed = output_of(Command::new(program).arg(objects()?))?;
    assert!(printed.ends_with(" 0 failed\n"), "{printed}");
    Ok(())
}

fn cxx_client(library: &Library) -> Outcome<PathBuf> {
    require("g++", "g++")?;
    let wheel = output_of(&mut Command::new(root().join("tests/conformance/upstream/wheel.sh")))?;
    let program = scratch("rust_objects")?.join("client_cxx");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter"]);
    compiler.arg("-isystem").arg(Path::new(wheel.trim()).join("tvm_ffi/include"));
    compiler.arg(folder().join("client.cc")).arg("-o").arg(&program);
    compiler.arg("-L").arg(library.folder()).arg("-ltvm_ffi");
    compiler.arg(format!("-Wl,-rpath,{},--disable-new-dtags", library.folder().display()));
    output_of(&mut compiler)?;
    Ok(program)
}

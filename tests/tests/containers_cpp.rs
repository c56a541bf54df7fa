//! Containers shared with upstream's inline C++ code, which reads and grows them in place.
//!
//! Ignored, since it needs upstream's headers and a C++ compiler (`CXX`, or `c++`). `FERRITE_LIBRARY_DIR` set to upstream's
//! library runs the same program against that.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Library, Outcome, output_of, root, scratch};
use std::path::Path;
use std::process::Command;

fn run(name: &str, flags: &[&str], stress_divisor: &str) -> Outcome<()> {
    let library = Library::get()?;
    let wheel = output_of(&mut Command::new(root().join("tests/upstream/wheel.sh")))?;
    let program = scratch("containers_cpp")?.join(name);
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or("c++".into()));
    compiler.args(["-std=c++17", "-O1", "-gdwarf-4"]).args(flags);
    compiler.arg("-I").arg(Path::new(wheel.trim()).join("tvm_ffi/include"));
    compiler.arg(root().join("tests/cpp/containers.cc")).arg("-o").arg(&program);
    compiler.arg("-L").arg(library.folder()).arg("-ltvm_ffi");
    compiler.arg(format!("-Wl,-rpath,{}", library.folder().display()));
    if cfg!(target_os = "linux") {
        compiler.arg("-Wl,--disable-new-dtags");
    }
    output_of(&mut compiler)?;
    // A List keeps its deleter when C++ code gives it a block of `operator new`: that is upstream's rule.
    let mut command = Command::new(&program);
    command.env("ASAN_OPTIONS", "detect_leaks=1:alloc_dealloc_mismatch=0");
    command.env("CHECK_STRESS_DIVISOR", stress_divisor);
    assert_eq!(output_of(&mut command)?.trim(), "OK");
    Ok(())
}

#[test]
#[ignore = "downloads upstream's headers: ./ci.sh cpp"]
fn both_sides_use_one_container() -> Outcome<()> {
    run("plain", &[], "1")
}

#[test]
#[ignore = "downloads upstream's headers: ./ci.sh cpp"]
fn both_sides_use_one_container_without_memory_errors() -> Outcome<()> {
    run("sanitized", &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], "10")
}

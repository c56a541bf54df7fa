//! Device modules from C: host code that TVM compiled, on the library alone, against numpy's outputs.
#![forbid(unsafe_code)]

use ferrite_tests::{Cc, Library, Outcome, output_of, quickstart, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The functions of the OpenCL fixtures.
const OPENCL: &[&str] = &["add_one", "axpy_dyn", "scale_i64", "matmul", "softmax", "mlp"];

/// Checks of one function, and one more for that of dynamic shape.
const CHECKS: usize = 22;

fn device() -> PathBuf {
    root().join("tests/device")
}

fn runner(folder: &Path) -> Cc {
    Cc::program(folder.join("run_device"))
        .strict()
        .headers(quickstart())
        .source(device().join("run_device.c"))
        .source(quickstart().join("ferrite_util.c"))
}

/// A library of host code and the device module of a kind.
fn models(folder: &Path, kind: &str, host: &str) -> Cc {
    let bin = device().join(kind).join("library_bin.bin");
    Cc::shared(folder.join("libmodels.so"))
        .generated()
        .args([format!("-DBIN=\"{}\"", bin.display())])
        .source(device().join("library_bin.S"))
        .source(device().join(kind).join(host))
}

fn run_opencl(name: &str, host: &str) -> Outcome<()> {
    run_opencl_with(name, host, |cc| cc)
}

/// Runs the functions of the OpenCL fixtures; `options` go to both compilations.
fn run_opencl_with(name: &str, host: &str, options: impl Fn(Cc) -> Cc) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(name)?);
    let models = options(models(&folder, "opencl", host)).link_shared(library)?;
    let mut command = Command::new(options(runner(&folder)).link_shared(library)?);
    // Drivers keep what they allocated.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    let report = output_of(command.arg("4").arg(models).arg(device().join("data")).args(OPENCL))?;
    print!("{report}");
    let total = format!("total: {} checks, 0 failed", OPENCL.len() * CHECKS + 1);
    assert!(report.contains(&total), "expected `{total}`");
    Ok(())
}

#[test]
#[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
fn opencl_with_host_code_in_c() -> Outcome<()> {
    run_opencl("gpu-opencl-c", "host.c")
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
fn opencl_with_host_code_from_llvm() -> Outcome<()> {
    run_opencl("gpu-opencl-llvm", "host_llvm_x86_64.o")
}

#[test]
#[ignore = "needs an OpenCL driver and the sanitizers' libraries: ./ci.sh gpu-opencl"]
fn opencl_under_address_and_undefined_behaviour_checks() -> Outcome<()> {
    run_opencl_with("gpu-opencl-sanitized", "host.c", Cc::sanitized)
}

//! Tests devices together with their driver and with another runtime: allocations of the library, a
//! failing driver, valgrind, and the runtime that serves each device.

use ferrite_tests::{Cc, Library, Outcome, device, output_of, scratch};
use std::path::{Path, PathBuf};

/// A kind of device with fixtures and a driver on this machine.
struct Kind {
    name: &'static str,
    device_type: &'static str,
    /// Library that the back end opens.
    driver: &'static str,
    functions: &'static [&'static str],
}

const OPENCL: Kind = Kind {
    name: "opencl",
    device_type: "4",
    driver: "libOpenCL.so.1",
    functions: &["add_one", "axpy_dyn", "scale_i64", "matmul", "softmax", "mlp"],
};

fn models(kind: &Kind, folder: &Path, options: fn(Cc) -> Cc) -> Outcome<PathBuf> {
    options(device::models(folder, kind.name, "host.c")).link_shared(Library::with_gpu()?)
}

/// Runs kernels in a process with the stand-in for libtvm_runtime. If the stand-in is preloaded,
/// host code compiled to C calls its symbols, and host code from LLVM uses its function slots.
fn coexists_with_another_runtime(kind: &Kind, order: &str, host: &str) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(&format!("gpu-{order}-{}", kind.name))?);
    let other = Cc::shared(folder.join("libtvm_runtime.so"))
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wl,-soname,libtvm_runtime.so"])
        .source(device::fixtures().join("other_runtime.c"))
        .link_shared(library)?;
    let models = device::models(&folder, kind.name, host).link_shared(library)?;
    let mut command =
        device::command(device::program(&folder, "coexistence", &["coexistence.c"]), library)?;
    if order == "preloaded" {
        command.env("LD_PRELOAD", &other);
    }
    let report = output_of(command.arg(kind.device_type).arg(models).arg(other).arg(order))?;
    print!("{report}");
    assert!(report.contains(", 0 failed"));
    Ok(())
}

fn launches_allocate_nothing(kind: &Kind) -> Outcome<()> {
    let (library, folder) =
        (Library::with_gpu()?, scratch(&format!("gpu-allocations-{}", kind.name))?);
    let program = device::program(&folder, "allocations", &["allocations.c", "counted_malloc.c"]);
    let mut command = device::command(program, library)?;
    let report = output_of(command.arg(kind.device_type).arg(models(kind, &folder, |cc| cc)?))?;
    print!("{report}");
    assert!(report.contains("total: 5 checks, 0 failed"));
    Ok(())
}

fn functions_under_valgrind(kind: &Kind) -> Outcome<()> {
    let (library, folder) =
        (Library::with_gpu()?, scratch(&format!("gpu-valgrind-{}", kind.name))?);
    let program = device::program(&folder, "run_device", &["run_device.c"]).link_shared(library)?;
    let mut command = ferrite_tests::valgrind("definite")?;
    command.arg(program).arg(kind.device_type).arg(models(kind, &folder, |cc| cc)?);
    let report = output_of(command.arg(device::fixtures().join("data")).args(kind.functions))?;
    print!("{report}");
    assert!(report.contains(", 0 failed"));
    Ok(())
}

fn every_failure_is_an_error(kind: &Kind, name: &str, options: fn(Cc) -> Cc) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(&format!("{name}-{}", kind.name))?);
    let program =
        device::program(&folder, "driver_failures", &["driver_failures.c", "counted_malloc.c"]);
    let mut command = device::command(options(program), library)?;
    let driver = device::failing_driver(&folder, kind.name, kind.driver)?;
    command.arg(kind.device_type).arg(models(kind, &folder, options)?).arg(driver);
    // Drivers do not free all of their memory, and reused tensors would need no call that fails.
    let command = command
        .env("LD_LIBRARY_PATH", &folder)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .env("FERRITE_DEVICE_POOL", "0");
    let report = output_of(command)?;
    print!("{report}");
    assert!(report.contains("calls failed, with workspaces") && report.contains(", 0 failed"));
    Ok(())
}

mod plain {
    use super::*;

    #[test]
    #[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
    fn opencl_launches_allocate_nothing_and_loads_leave_nothing() -> Outcome<()> {
        launches_allocate_nothing(&OPENCL)
    }

    #[test]
    #[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
    fn opencl_coexists_with_a_runtime_loaded_before() -> Outcome<()> {
        coexists_with_another_runtime(&OPENCL, "before", "host.c")
    }

    #[test]
    #[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
    fn opencl_coexists_with_a_runtime_loaded_after() -> Outcome<()> {
        coexists_with_another_runtime(&OPENCL, "after", "host.c")
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
    fn opencl_coexists_with_a_runtime_whose_symbols_come_first() -> Outcome<()> {
        coexists_with_another_runtime(&OPENCL, "preloaded", "host_llvm_x86_64.o")
    }

    #[test]
    #[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
    fn opencl_failures_of_the_driver_are_errors() -> Outcome<()> {
        every_failure_is_an_error(&OPENCL, "gpu-failures", |cc| cc)
    }
}

mod sanitized {
    use super::*;

    #[test]
    #[ignore = "needs an OpenCL driver and the sanitizers' libraries: ./ci.sh gpu-checked"]
    fn opencl_failures_of_the_driver_are_errors() -> Outcome<()> {
        every_failure_is_an_error(&OPENCL, "gpu-failures-sanitized", Cc::sanitized)
    }
}

mod valgrind {
    use super::*;

    #[test]
    #[ignore = "needs an OpenCL driver and valgrind: ./ci.sh gpu-checked"]
    fn opencl_functions_show_nothing_of_ours() -> Outcome<()> {
        functions_under_valgrind(&OPENCL)
    }
}

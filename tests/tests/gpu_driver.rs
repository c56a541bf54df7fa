//! Devices beside their driver: what the library allocates, a driver that fails, and reports of valgrind.

use ferrite_tests::{Cc, Library, Outcome, device, output_of, scratch};
use std::path::{Path, PathBuf};

/// A kind of device with fixtures and a driver on this machine.
struct Kind {
    name: &'static str,
    device_type: &'static str,
    /// The library that the back end opens.
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

fn launches_allocate_nothing(kind: &Kind) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(&format!("gpu-allocations-{}", kind.name))?);
    let program = device::program(&folder, "allocations", &["allocations.c", "counted_malloc.c"]);
    let mut command = device::command(program, library)?;
    let report = output_of(command.arg(kind.device_type).arg(models(kind, &folder, |cc| cc)?))?;
    print!("{report}");
    assert!(report.contains("total: 5 checks, 0 failed"));
    Ok(())
}

fn functions_under_valgrind(kind: &Kind) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(&format!("gpu-valgrind-{}", kind.name))?);
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
    let program = device::program(&folder, "driver_failures", &["driver_failures.c", "counted_malloc.c"]);
    let mut command = device::command(options(program), library)?;
    let driver = device::failing_driver(&folder, kind.name, kind.driver)?;
    command.arg(kind.device_type).arg(models(kind, &folder, options)?).arg(driver);
    // Drivers keep what they allocated.
    let command = command.env("LD_LIBRARY_PATH", &folder).env("ASAN_OPTIONS", "detect_leaks=0");
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
    fn opencl_failures_of_the_driver_are_errors() -> Outcome<()> {
        every_failure_is_an_error(&OPENCL, "gpu-failures", |cc| cc)
    }
}

mod sanitized {
    use super::*;

    #[test]
    #[ignore = "needs an OpenCL driver and the sanitizers' libraries: ./ci.sh gpu-opencl-checked"]
    fn opencl_failures_of_the_driver_are_errors() -> Outcome<()> {
        every_failure_is_an_error(&OPENCL, "gpu-failures-sanitized", Cc::sanitized)
    }
}

mod valgrind {
    use super::*;

    #[test]
    #[ignore = "needs an OpenCL driver and valgrind: ./ci.sh gpu-opencl-checked"]
    fn opencl_functions_show_nothing_of_ours() -> Outcome<()> {
        functions_under_valgrind(&OPENCL)
    }
}

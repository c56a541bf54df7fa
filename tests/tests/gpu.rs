//! Tests device modules from C, without another runtime: host code compiled by TVM, compared with
//! numpy's outputs.
#![forbid(unsafe_code)]

use ferrite_tests::{
    Cc, Library, Outcome, device, output_of, quickstart, root, scratch, stand_in_unless_real,
    valgrind,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Functions of the OpenCL fixtures.
const OPENCL: &[&str] = &["add_one", "axpy_dyn", "scale_i64", "matmul", "softmax", "mlp"];

/// Functions of the WebGPU fixtures: all except the one with 64-bit integers.
const WEBGPU: &[&str] = &["add_one", "axpy_dyn", "matmul", "softmax", "mlp"];

/// Number of checks of each function. The function with a dynamic shape has one more.
const CHECKS: usize = 22;

/// Begins the compilation of the program that runs functions of the fixtures and compares the
/// results with numpy's.
fn runner(folder: &Path) -> Cc {
    device::program(folder, "run_device", &["run_device.c"])
}

/// A kind of device module, with its fixtures.
struct Kind {
    name: &'static str,
    device_type: &'static str,
    functions: &'static [&'static str],
    library: fn() -> Outcome<&'static Library>,
}

const OPENCL_KIND: Kind =
    Kind { name: "opencl", device_type: "4", functions: OPENCL, library: Library::with_gpu };

const WEBGPU_KIND: Kind =
    Kind { name: "webgpu", device_type: "15", functions: WEBGPU, library: Library::with_webgpu };

fn run_opencl(name: &str, host: &str) -> Outcome<()> {
    run_with(&OPENCL_KIND, name, host, |cc| cc)
}

fn run_webgpu(name: &str, host: &str) -> Outcome<()> {
    run_with(&WEBGPU_KIND, name, host, |cc| cc)
}

/// Runs the functions of the fixtures of a kind. Applies `options` to both compilations.
fn run_with(kind: &Kind, name: &str, host: &str, options: impl Fn(Cc) -> Cc) -> Outcome<()> {
    let (library, folder) = ((kind.library)()?, scratch(name)?);
    let models = options(device::models(&folder, kind.name, host)).link_shared(library)?;
    let mut command = Command::new(options(runner(&folder)).link_shared(library)?);
    // Drivers do not free all of their memory.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    let command = command.arg(kind.device_type).arg(models).arg(device::fixtures().join("data"));
    let report = output_of(command.args(kind.functions))?;
    print!("{report}");
    let total = format!("total: {} checks, 0 failed", kind.functions.len() * CHECKS + 1);
    assert!(report.contains(&total), "expected `{total}`");
    Ok(())
}

/// Runs the quick start for a kind, as a user does. `variable` selects devices by name.
fn quick_start(kind: &str, variable: &str) -> Outcome<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["run", "--release", "--quiet", "--", "gpu", kind]).current_dir(root());
    let printed = output_of(&mut command)?;
    print!("{printed}");
    assert!(printed.contains(&format!("\n{kind} ({variable}")), "{printed}");
    let results = printed.lines().filter(|line| line.contains(" us per inference"));
    let (right, wrong): (Vec<_>, Vec<_>) =
        results.partition(|line| line.contains("20 of 20 digits right"));
    assert!(!right.is_empty() && wrong.is_empty(), "{printed}");
    // A selection without devices is reported and explained.
    let output = command.env(variable, "no such device").output()?;
    let (printed, message) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{printed}{message}");
    assert!(
        printed.contains(&format!("\n{kind} ({variable}=no such device, which chooses")),
        "{printed}"
    );
    assert!(printed.contains("  no device: "), "{printed}");
    assert!(
        printed.contains("  to have one: ") && message.contains("no device was found"),
        "{printed}{message}"
    );
    Ok(())
}

#[test]
#[ignore = "needs an OpenCL driver: ./ci.sh gpu-opencl"]
fn the_quick_start_classifies_digits_on_opencl() -> Outcome<()> {
    quick_start("opencl", "FERRITE_OPENCL_PLATFORM")
}

#[test]
fn the_quick_start_names_the_kinds_that_it_knows() -> Outcome<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    let output = command
        .args(["run", "--release", "--quiet", "--", "gpu", "toaster"])
        .current_dir(root())
        .output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("no kind of device `toaster`: there are opencl, "), "{message}");
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
    run_with(&OPENCL_KIND, "gpu-opencl-sanitized", "host.c", Cc::sanitized)
}

#[test]
#[ignore = "needs a Vulkan driver: ./ci.sh gpu-webgpu"]
fn webgpu_with_host_code_in_c() -> Outcome<()> {
    run_webgpu("gpu-webgpu-c", "host.c")
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[ignore = "needs a Vulkan driver: ./ci.sh gpu-webgpu"]
fn webgpu_with_host_code_from_llvm() -> Outcome<()> {
    run_webgpu("gpu-webgpu-llvm", "host_llvm_x86_64.o")
}

#[test]
#[ignore = "needs a Vulkan driver and a library with the address sanitizer: ./ci.sh gpu-checked"]
fn sanitized_webgpu() -> Outcome<()> {
    run_with(&WEBGPU_KIND, "gpu-webgpu-sanitized", "host.c", Cc::sanitized)
}

/// Functions of the CUDA fixtures: those of the OpenCL fixtures, and one with dynamic shared
/// memory.
const CUDA: &[&str] =
    &["add_one", "axpy_dyn", "scale_i64", "matmul", "softmax", "mlp", "reverse_dynshared"];

/// Device files of which one exists on a machine with an NVIDIA GPU.
const CUDA_DEVICES: [&str; 2] = ["/dev/nvidia0", "/dev/dxg"];

/// Returns a command that uses the CUDA driver of this machine, or the stand-in.
fn with_cuda(program: PathBuf) -> Outcome<Command> {
    let mut command = Command::new(program);
    if let Some(folder) = stand_in_unless_real("cuda", "libcuda.so.1", &CUDA_DEVICES)? {
        command.env("LD_LIBRARY_PATH", folder);
    }
    Ok(command)
}

/// Begins the compilation of the program that counts host allocations and makes them fail.
fn host_memory(folder: &Path) -> Cc {
    Cc::program(folder.join("host_memory"))
        .args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
        .headers(quickstart())
        .source(device::fixtures().join("host_memory.c"))
        .source(quickstart().join("ferrite_util.c"))
}

fn run_cuda(name: &str, host: &str, bin: &str) -> Outcome<()> {
    run_cuda_with(name, host, bin, |cc| cc)
}

/// Runs the functions of the CUDA fixtures. Applies `options` to both compilations.
fn run_cuda_with(name: &str, host: &str, bin: &str, options: impl Fn(Cc) -> Cc) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(name)?);
    let models = options(device::models_of(&folder, "cuda", host, bin)).link_shared(library)?;
    let mut command = with_cuda(options(runner(&folder)).link_shared(library)?)?;
    // Drivers do not free all of their memory, and NVIDIA's places its own where the sanitizer
    // protects addresses.
    command.env("ASAN_OPTIONS", "detect_leaks=0:protect_shadow_gap=0");
    let report =
        output_of(command.arg("2").arg(models).arg(device::fixtures().join("data")).args(CUDA))?;
    print!("{report}");
    let total = format!("total: {} checks, 0 failed", CUDA.len() * CHECKS + 1);
    assert!(report.contains(&total), "expected `{total}`");
    Ok(())
}

#[test]
#[ignore = "needs NVRTC: ./ci.sh gpu-cuda"]
fn cuda_source_with_host_code_in_c() -> Outcome<()> {
    run_cuda("gpu-cuda-source", "host.c", "library_bin.bin")
}

#[test]
#[ignore = "a part of ./ci.sh gpu-cuda"]
fn cuda_ptx_with_host_code_in_c() -> Outcome<()> {
    run_cuda("gpu-cuda-ptx", "host.c", "library_bin_ptx.bin")
}

#[test]
#[ignore = "a part of ./ci.sh gpu-cuda"]
fn cuda_machine_code_with_host_code_in_c() -> Outcome<()> {
    run_cuda("gpu-cuda-cubin", "host.c", "library_bin_cubin.bin")
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[ignore = "a part of ./ci.sh gpu-cuda"]
fn cuda_with_host_code_from_llvm() -> Outcome<()> {
    run_cuda("gpu-cuda-llvm", "host_llvm_x86_64.o", "library_bin_ptx.bin")
}

#[test]
#[ignore = "needs the sanitizers' libraries: ./ci.sh gpu-cuda"]
fn cuda_under_address_and_undefined_behaviour_checks() -> Outcome<()> {
    run_cuda_with("gpu-cuda-sanitized", "host.c", "library_bin_ptx.bin", Cc::sanitized)
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs valgrind: ./ci.sh gpu-cuda"]
fn cuda_under_valgrind() -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch("gpu-cuda-valgrind")?);
    let Some(driver) = stand_in_unless_real("cuda", "libcuda.so.1", &CUDA_DEVICES)? else {
        println!("not run: valgrind does not know the real driver");
        return Ok(());
    };
    let models =
        device::models_of(&folder, "cuda", "host.c", "library_bin_ptx.bin").link_shared(library)?;
    let mut command = valgrind("definite,indirect")?;
    command.arg(runner(&folder).link_shared(library)?).env("LD_LIBRARY_PATH", driver);
    let report = output_of(
        command.arg("2").arg(models).arg(device::fixtures().join("data")).args(["add_one", "mlp"]),
    )?;
    print!("{report}");
    assert!(report.contains(&format!("total: {} checks, 0 failed", 2 * CHECKS)));
    Ok(())
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "a part of ./ci.sh gpu-cuda"]
fn cuda_launches_allocate_nothing_and_memory_may_run_out() -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch("gpu-cuda-memory")?);
    let models =
        device::models_of(&folder, "cuda", "host.c", "library_bin_ptx.bin").link_shared(library)?;
    let program = host_memory(&folder).link_shared(library)?;
    let report = output_of(with_cuda(program)?.arg("2").arg(models))?;
    print!("{report}");
    assert!(report.contains("a kernel: 0 allocations in 198 calls"));
    assert!(report.contains(" 0 wrong"));
    Ok(())
}

/// Functions of the ROCm fixtures: those that TVM compiles without ROCm's own libraries.
const ROCM: &[&str] = &["add_one", "axpy_dyn", "matmul", "mlp"];

/// Device file that exists on a machine with an AMD GPU.
const ROCM_DEVICES: [&str; 1] = ["/dev/kfd"];

/// Returns a command that uses the ROCm driver of this machine, or the stand-in.
fn with_rocm(program: PathBuf) -> Outcome<Command> {
    let mut command = Command::new(program);
    if let Some(folder) = stand_in_unless_real("hip", "libamdhip64.so.7", &ROCM_DEVICES)? {
        command.env("LD_LIBRARY_PATH", folder);
    }
    // Drivers do not free all of their memory.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    Ok(command)
}

/// Runs the functions of the ROCm fixtures. Applies `options` to both compilations.
fn run_rocm_with(name: &str, options: impl Fn(Cc) -> Cc) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(name)?);
    let models = options(device::models(&folder, "rocm", "host.c")).link_shared(library)?;
    let mut command = with_rocm(options(runner(&folder)).link_shared(library)?)?;
    let report =
        output_of(command.arg("10").arg(models).arg(device::fixtures().join("data")).args(ROCM))?;
    print!("{report}");
    let total = format!("total: {} checks, 0 failed", ROCM.len() * CHECKS + 1);
    assert!(report.contains(&total), "expected `{total}`");
    Ok(())
}

#[test]
#[ignore = "a part of ./ci.sh gpu-rocm"]
fn rocm_with_host_code_in_c() -> Outcome<()> {
    run_rocm_with("gpu-rocm-c", |cc| cc)
}

#[test]
#[ignore = "needs the sanitizers' libraries: ./ci.sh gpu-rocm"]
fn rocm_under_address_and_undefined_behaviour_checks() -> Outcome<()> {
    run_rocm_with("gpu-rocm-sanitized", Cc::sanitized)
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs valgrind: ./ci.sh gpu-rocm"]
fn rocm_under_valgrind() -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch("gpu-rocm-valgrind")?);
    let Some(driver) = stand_in_unless_real("hip", "libamdhip64.so.7", &ROCM_DEVICES)? else {
        println!("not run: valgrind does not know the real driver");
        return Ok(());
    };
    let models = device::models(&folder, "rocm", "host.c").link_shared(library)?;
    let mut command = valgrind("definite,indirect")?;
    command.arg(runner(&folder).link_shared(library)?).env("LD_LIBRARY_PATH", driver);
    let report = output_of(
        command.arg("10").arg(models).arg(device::fixtures().join("data")).args(["add_one", "mlp"]),
    )?;
    print!("{report}");
    assert!(report.contains(&format!("total: {} checks, 0 failed", 2 * CHECKS)));
    Ok(())
}

#[test]
#[ignore = "a part of ./ci.sh gpu-rocm"]
fn rocm_launches_allocate_nothing_and_memory_may_run_out() -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch("gpu-rocm-memory")?);
    let models = device::models(&folder, "rocm", "host.c").link_shared(library)?;
    let program = host_memory(&folder).link_shared(library)?;
    let report = output_of(with_rocm(program)?.arg("10").arg(models))?;
    print!("{report}");
    assert!(report.contains("a kernel: 0 allocations in 198 calls"));
    assert!(report.contains(" 0 wrong"));
    Ok(())
}

/// Functions of the Vulkan fixtures: all except the one with 64-bit integers.
const VULKAN: &[&str] = &["add_one", "axpy_dyn", "matmul", "softmax", "mlp"];

fn run_vulkan(name: &str, host: &str, bin: &str) -> Outcome<()> {
    run_vulkan_with(name, host, bin, |cc| cc, |program| Ok(Command::new(program)))
}

/// Runs the functions of the Vulkan fixtures. Applies `options` to both compilations; `command` is
/// the beginning of the command line.
fn run_vulkan_with(
    name: &str,
    host: &str,
    bin: &str,
    options: impl Fn(Cc) -> Cc,
    command: impl Fn(PathBuf) -> Outcome<Command>,
) -> Outcome<()> {
    let (library, folder) = (Library::with_gpu()?, scratch(name)?);
    let models = options(device::models_of(&folder, "vulkan", host, bin)).link_shared(library)?;
    let mut command = command(options(runner(&folder)).link_shared(library)?)?;
    // Drivers do not free all of their memory.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    let report =
        output_of(command.arg("7").arg(models).arg(device::fixtures().join("data")).args(VULKAN))?;
    print!("{report}");
    let total = format!("total: {} checks, 0 failed", VULKAN.len() * CHECKS + 1);
    assert!(report.contains(&total), "expected `{total}`");
    Ok(())
}

#[test]
#[ignore = "needs a Vulkan driver: ./ci.sh gpu-vulkan"]
fn vulkan_with_host_code_in_c() -> Outcome<()> {
    run_vulkan("gpu-vulkan-c", "host.c", "library_bin.bin")
}

#[test]
#[ignore = "needs a Vulkan driver: ./ci.sh gpu-vulkan"]
fn vulkan_with_scalars_in_uniform_buffers() -> Outcome<()> {
    run_vulkan("gpu-vulkan-uniform", "host.c", "library_bin_ubo.bin")
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[ignore = "needs a Vulkan driver: ./ci.sh gpu-vulkan"]
fn vulkan_with_host_code_from_llvm() -> Outcome<()> {
    run_vulkan("gpu-vulkan-llvm", "host_llvm_x86_64.o", "library_bin_ubo.bin")
}

#[test]
#[ignore = "needs a Vulkan driver and valgrind: ./ci.sh gpu-vulkan"]
fn vulkan_under_valgrind() -> Outcome<()> {
    let run = |program| {
        let mut command = valgrind("definite,indirect")?;
        command.arg(program);
        Ok(command)
    };
    run_vulkan_with("gpu-vulkan-valgrind", "host.c", "library_bin.bin", |cc| cc, run)
}

/// Tests a library built with the address sanitizer, too.
#[test]
#[ignore = "needs a Vulkan driver and the sanitizers' libraries: ./ci.sh gpu-checked"]
fn sanitized_vulkan() -> Outcome<()> {
    let run = |program| Ok(Command::new(program));
    run_vulkan_with("gpu-vulkan-sanitized", "host.c", "library_bin.bin", Cc::sanitized, run)
}

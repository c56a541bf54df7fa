//! Tests WebGPU with missing or failing components: no Vulkan loader, no Vulkan driver, and a
//! driver that fails at each of its functions. Each case runs in a process of its own, which must
//! end with errors or with correct values.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::webgpu::WebGpu;

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 15, device_id: 0 };
const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/webgpu/module.bin");

/// Environment variable that is set in the child processes, which use a device.
const CHILD: &str = "FERRITE_TEST_CHILD";

/// Computes `y = a * x + k` for 1024 elements with the fixture `axpy_dyn`, and calls other
/// functions as a program would.
fn use_device() -> Result<()> {
    WebGpu.set_device(0)?;
    let module = DeviceModule::<WebGpu>::load(Bytes::new(FIXTURE)?)?;
    let kernel = module.get_function(&String::new("axpy_dyn_kernel")?, false)?.expect("the kernel");
    let host = Tensor::from_slice(&[3f32; 1024], &[1024])?;
    let (x, y) = (device::empty(&[1024], F32, HERE)?, device::empty(&[1024], F32, HERE)?);
    let null = core::ptr::null_mut();
    // SAFETY: all tensors are live.
    unsafe { device::copy_tensor(host.dl_tensor(), x.dl_tensor(), null)? };
    for k in 0..3i64 {
        let [px, py] = [&x, &y].map(|tensor| {
            // SAFETY: kernels that get the address find the memory of a tensor or workspace there.
            Any::from(unsafe {
                ferrite_core::value::convert::OpaquePtr::new(tensor.dl_tensor().data)
            })
        });
        let (blocks, threads) = (16i64, 64i64);
        let arguments = [
            px.view(),
            py.view(),
            2.0f64.into(),
            k.into(),
            1024i64.into(),
            blocks.into(),
            threads.into(),
        ];
        kernel.call_packed(&arguments)?;
        // SAFETY: as above.
        unsafe { device::copy_tensor(y.dl_tensor(), host.dl_tensor(), null)? };
        assert_eq!(
            host.as_slice::<f32>()?,
            [6.0 + k as f32; 1024],
            "a wrong value without an error"
        );
    }
    // Larger than the memory that the driver has allocated so far.
    drop(device::empty(&[1 << 26], F32, HERE)?);
    let workspace = alloc_workspace(15, 0, 4096)?;
    // SAFETY: the workspace was just allocated; null is the device's default stream.
    unsafe {
        free_workspace(15, 0, workspace)?;
        WebGpu.synchronize(0, null)
    }
}

/// Uses a device twice: the second use reveals state left by a failure.
fn child() {
    watchdog::watchdog(60);
    ferrite_gpu::install();
    for _ in 0..2 {
        match use_device() {
            Ok(()) => println!("ok"),
            Err(error) => println!(
                "{}: {}",
                std::string::String::from_utf8_lossy(error.kind_bytes()),
                std::string::String::from_utf8_lossy(error.message_bytes())
            ),
        }
    }
}

fn run(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.env(CHILD, "1").envs(variables.iter().copied());
    command.output().expect("a process")
}

/// Returns the lines that a child printed. The child must not have crashed.
fn lines(output: &Output, case: &str) -> Vec<std::string::String> {
    let text = std::string::String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = std::string::String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {:?}\n{text}\n{errors}", output.status);
    text.lines().map(str::to_owned).collect()
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Checks that errors say what to install if nothing is installed.
fn missing_parts_are_told() {
    let empty = folder("webgpu_no_vulkan");
    std::fs::write(empty.join("libvulkan.so.1"), "").expect("a file");
    let output = run(&[("LD_LIBRARY_PATH", empty.to_str().expect("UTF-8"))]);
    for line in lines(&output, "no libvulkan.so.1") {
        assert!(line.starts_with("RuntimeError: No WebGPU adapter: "), "{line}");
        assert!(
            line.contains("looked for libvulkan.so.1")
                && line.contains("apt-get install libvulkan1"),
            "{line}"
        );
    }
    let nowhere = "/nonexistent/driver.json";
    let output = run(&[("VK_DRIVER_FILES", nowhere), ("VK_ICD_FILENAMES", nowhere)]);
    for line in lines(&output, "no driver") {
        assert!(
            line.starts_with("RuntimeError: No WebGPU adapter: libvulkan.so.1 is installed"),
            "{line}"
        );
    }
}

/// Builds the stand-in in which one call fails; returns its folder.
fn build_stand_in() -> PathBuf {
    let folder = folder("webgpu_failing_vulkan");
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/device/failing_vulkan.c");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    compiler
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(folder.join("libvulkan.so.1"))
        .arg(source)
        .arg("-ldl");
    assert!(compiler.status().expect("a C compiler").success());
    folder
}

/// Returns the path of the library that the stand-in replaces.
fn real_library() -> std::string::String {
    let output =
        Command::new("cc").arg("-print-file-name=libvulkan.so.1").output().expect("a C compiler");
    std::string::String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs a child on the stand-in.
fn run_failing(folder: &Path, variables: &[(&str, &str)]) -> Output {
    let (path, real) = (folder.to_str().expect("UTF-8"), real_library());
    let base = [("LD_LIBRARY_PATH", path), ("FAILING_VULKAN_LIBRARY", &*real)];
    run(&[&base, variables].concat())
}

/// Checks that a device remains usable after it was out of memory for a tensor.
fn memory_that_runs_out_is_a_memory_error(folder: &Path) {
    let variables = [
        ("FAILING_VULKAN_CALL", "vkAllocateMemory"),
        ("FAILING_VULKAN_AT", "2"),
        ("FAILING_VULKAN_CODE", "-2"),
    ];
    let results = lines(&run_failing(folder, &variables), "no memory for a tensor");
    assert_eq!(results, ["MemoryError: The WebGPU device is out of memory", "ok"]);
}

/// Makes each driver function fail at its first and at its last call, with the device lost and out
/// of memory.
fn failing_calls_are_errors(folder: &Path) {
    let counts = folder.join("counts");
    let with = |variables: &[(&str, &str)]| run_failing(folder, variables);
    let output = with(&[("FAILING_VULKAN_COUNTS", counts.to_str().expect("UTF-8"))]);
    assert_eq!(lines(&output, "no failure"), ["ok", "ok"]);
    let mut cases = Vec::new();
    for entry in std::fs::read_to_string(&counts).expect("counts").lines() {
        let (name, count) = entry.split_once(' ').expect("a name and a number");
        let calls = if count == "1" { vec!["1"] } else { vec!["1", count] };
        cases.extend(
            calls
                .iter()
                .flat_map(|at| ["-2", "-4"].map(|code| [name, at, code].map(str::to_owned))),
        );
    }
    let (next, errors, recovered) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let run_cases = || {
        while let Some([name, at, code]) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let case = format!("{name}, call {at}, VkResult {code}");
            let variables = [
                ("FAILING_VULKAN_CALL", &**name),
                ("FAILING_VULKAN_AT", at),
                ("FAILING_VULKAN_CODE", code),
            ];
            let results = lines(&with(&variables), &case);
            assert_eq!(results.len(), 2, "{case}");
            for line in results.iter().filter(|line| *line != "ok") {
                let kind = line.split(':').next().unwrap_or_default();
                let is_known = matches!(kind, "MemoryError" | "RuntimeError" | "InternalError");
                assert!(is_known, "{case}: {line}");
            }
            errors.fetch_add(usize::from(results != ["ok", "ok"]), Ordering::Relaxed);
            recovered.fetch_add(usize::from(results[1] == "ok"), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run_cases))));
    let (cases, errors, recovered) = (cases.len(), errors.into_inner(), recovered.into_inner());
    assert!(cases > 50 && errors > cases / 2, "{cases} cases, {errors} with an error");
    println!("{cases} failing calls: {errors} gave an error, {recovered} left the device usable");
}

fn main() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    missing_parts_are_told();
    let folder = build_stand_in();
    memory_that_runs_out_is_a_memory_error(&folder);
    failing_calls_are_errors(&folder);
    println!("missing and failing drivers: ok");
}

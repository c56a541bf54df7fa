//! Tests CUDA without a driver: NVRTC compiles source without a driver or GPU.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

use std::sync::{Mutex, PoisonError};

use ferrite_alloc_ext::device::{Attribute, Backend};
use ferrite_alloc_ext::module::Module;
use ferrite_core::error::{Error, Result};
use ferrite_core::{Bytes, Function, String};
use ferrite_gpu::cuda::Cuda;
use ferrite_gpu::module::DeviceModule;

const SOURCE: &[u8] = include_bytes!("../../../tests/programs/device/payloads/cuda.bin");
const PTX: &[u8] = include_bytes!("../../../tests/programs/device/payloads/cuda_ptx.bin");

/// Names of the fixtures' kernels.
const KERNELS: [&str; 8] = [
    "add_one_kernel",
    "axpy_dyn_kernel",
    "scale_i64_kernel",
    "matmul_kernel",
    "softmax_kernel",
    "reverse_dynshared_kernel",
    "mlp_kernel",
    "mlp_kernel_1",
];

/// Held by every test, since the tests change the environment.
static ALONE: Mutex<()> = Mutex::new(());

fn load(bytes: &[u8]) -> Result<Module> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    DeviceModule::<Cuda>::load(Bytes::new(bytes)?)
}

fn message(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

fn source_of(module: &Module, format: &str) -> Result<Vec<u8>> {
    Ok(module.inspect_source(&String::new(format)?)?.as_bytes().to_vec())
}

/// Runs `body` while an environment variable has another value.
fn with_variable<R>(name: &str, value: &str, body: impl FnOnce() -> R) -> R {
    let before = std::env::var_os(name);
    // SAFETY: the tests of this program run one after another.
    unsafe { std::env::set_var(name, value) };
    let result = body();
    // SAFETY: as above.
    unsafe {
        match before {
            Some(before) => std::env::set_var(name, before),
            None => std::env::remove_var(name),
        }
    }
    result
}

/// Returns `true` if this machine has a driver.
fn has_driver() -> bool {
    let exists = Cuda.attribute(0, Attribute::Exists).and_then(|exists| exists.get::<i64>());
    let has_driver = exists.is_ok_and(|exists| exists == 1);
    if has_driver {
        println!("not run: this machine has a CUDA device");
    }
    has_driver
}

#[test]
fn source_becomes_ptx() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if has_driver() {
        return Ok(());
    }
    let ptx = source_of(&load(SOURCE)?, "ptx")?;
    let text = std::string::String::from_utf8_lossy(&ptx);
    assert!(text.contains(".target sm_75"), "the oldest architecture");
    for kernel in KERNELS {
        assert!(text.contains(&format!(".entry {kernel}(")), "{kernel}");
    }
    Ok(())
}

#[test]
fn the_architecture_can_be_chosen() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ptx = with_variable("FERRITE_CUDA_ARCH", "compute_80", || load(SOURCE))?;
    assert!(
        std::string::String::from_utf8_lossy(&source_of(&ptx, "ptx")?).contains(".target sm_80")
    );
    let cubin = with_variable("FERRITE_CUDA_ARCH", "sm_90a", || load(SOURCE))?;
    let code = source_of(&cubin, "cubin")?;
    assert!(code.starts_with(b"\x7fELF") && source_of(&cubin, "ptx")?.is_empty());
    for kernel in KERNELS {
        assert!(code.windows(kernel.len()).any(|bytes| bytes == kernel.as_bytes()), "{kernel}");
    }
    let error =
        with_variable("FERRITE_CUDA_ARCH", "compute_1", || load(SOURCE).map(drop)).unwrap_err();
    assert!(
        message(&error)
            .starts_with("nvrtcCompileProgram failed with error: NVRTC_ERROR_INVALID_OPTION"),
        "{error:?}"
    );
    Ok(())
}

#[test]
fn headers_are_found_in_folders_that_variables_name() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = std::env::temp_dir().join(format!("ferrite-cuda-headers-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("include")).expect("a folder");
    std::fs::write(folder.join("include/ferrite_half.h"), "#define ANSWER 42\n").expect("a file");
    let mut payload = ferrite_gpu::payload::Writer::new();
    payload.text(b"cuda")?;
    payload.count(0)?;
    payload.text(
        b"#include <ferrite_half.h>\nextern \"C\" __global__ void k(int* x) { *x = ANSWER; }",
    )?;
    let payload = payload.finish()?;
    let without = load(payload.as_bytes()).map(drop).unwrap_err();
    assert!(message(&without).contains("ferrite_half.h"), "{without:?}");
    let root = folder.to_str().expect("a path");
    for (name, value) in
        [("CUDA_HOME", root.to_string()), ("FERRITE_CUDA_INCLUDE", format!("{root}/include"))]
    {
        with_variable(name, &value, || load(payload.as_bytes()))?;
    }
    std::fs::remove_dir_all(folder).expect("the folder");
    Ok(())
}

#[test]
fn a_registered_compiler_gets_no_source_that_is_not_utf8() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let name = "tvm_callback_cuda_compile";
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = calls.clone();
    let compiler = Function::from_typed(move |_: String| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Bytes::new(PTX)
    })?;
    // The text of a comment in the source.
    let mut damaged = SOURCE.to_vec();
    let at = damaged.len() - 2;
    damaged[at] = 0xff;
    Function::set_global(name, &compiler, true)?;
    let get = |bytes: &[u8]| load(bytes)?.get_function(&String::new(KERNELS[0])?, false).map(drop);
    let (refused, taken) = (get(&damaged), get(SOURCE));
    ferrite_core::names::global_table::remove(name.as_bytes())?;
    let error = refused.expect_err("source that is not UTF-8");
    assert_eq!(
        (error.kind_bytes(), &*message(&error)),
        (&b"InternalError"[..], "Malformed cuda module: the source is not UTF-8")
    );
    drop(taken);
    assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 1);
    Ok(())
}

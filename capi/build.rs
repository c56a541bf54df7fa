//! Build script: sets linker options of the shared object (its soname, its libraries, and that it
//! stays loaded), and detects microcontroller cores.

use std::env;

/// Prefixes of Arm targets that are microcontrollers.
const CORTEX_M: [&str; 4] = ["thumbv6m", "thumbv7m", "thumbv7em", "thumbv8m"];

/// Targets for which the host crate defines the symbols in `unwinder.ld`.
const LATE_UNWINDER: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(cortex_m, riscv, platform_workspaces)");
    let target = env::var("TARGET").unwrap_or_default();
    let (cortex_m, riscv) =
        (CORTEX_M.iter().any(|core| target.starts_with(core)), target.starts_with("riscv"));
    if cortex_m {
        println!("cargo:rustc-cfg=cortex_m");
    }
    if riscv {
        println!("cargo:rustc-cfg=riscv");
    }
    // Workspaces come from functions that firmware of microTVM defines.
    if cfg!(all(feature = "microtvm", feature = "backend")) && (cortex_m || riscv) {
        println!("cargo:rustc-cfg=platform_workspaces");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtvm_ffi.so");
        // Never unloaded: objects have deleters in it, and clients cache type indices and addresses
        // of its tables.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    // Compiled models call functions of libm and do not name it. The C++ runtime needs it anyway.
    let is_glibc =
        env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu") && target.contains("-linux-");
    if is_glibc && cfg!(all(feature = "host", not(feature = "cxx-abi"))) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--push-state,--no-as-needed,-lm,--pop-state");
    }
    // The C++ runtime loads the unwinder anyway.
    if cfg!(all(feature = "host", not(feature = "cxx-abi")))
        && LATE_UNWINDER.contains(&target.as_str())
    {
        // Read when the script runs: a build folder may serve sources that were moved.
        let options = format!("{}/unwinder.ld", env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
        println!("cargo:rerun-if-changed={options}");
        println!("cargo:rustc-cdylib-link-arg=-Wl,@{options}");
    }
}

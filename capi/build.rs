//! Names the shared object, since clients look for it by its soname, and the kind of core that a board has.

use std::env;

/// The microcontrollers among Arm's targets.
const CORTEX_M: [&str; 4] = ["thumbv6m", "thumbv7m", "thumbv7em", "thumbv8m"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(cortex_m, riscv)");
    let target = env::var("TARGET").unwrap_or_default();
    if CORTEX_M.iter().any(|core| target.starts_with(core)) {
        println!("cargo:rustc-cfg=cortex_m");
    }
    if target.starts_with("riscv") {
        println!("cargo:rustc-cfg=riscv");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtvm_ffi.so");
    }
}

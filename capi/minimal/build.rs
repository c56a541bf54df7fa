//! Build script: detects microcontroller cores.

use std::env;

/// Prefixes of Arm targets that are microcontrollers.
const CORTEX_M: [&str; 4] = ["thumbv6m", "thumbv7m", "thumbv7em", "thumbv8m"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(cortex_m, riscv, platform_workspaces)");
    let target = env::var("TARGET").unwrap_or_default();
    let cortex_m = CORTEX_M.iter().any(|core| target.starts_with(core));
    let riscv = target.starts_with("riscv");
    if cortex_m {
        println!("cargo:rustc-cfg=cortex_m");
    }
    if riscv {
        println!("cargo:rustc-cfg=riscv");
    }
    // Workspaces come from functions that firmware of microTVM defines.
    if cfg!(feature = "microtvm") && (cortex_m || riscv) {
        println!("cargo:rustc-cfg=platform_workspaces");
    }
}

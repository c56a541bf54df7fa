//! Build script: links the test programs in `tests/` with the lazily linked unwinder, as the shared
//! object is.

use std::env;

/// Targets for which `src/unwinder.rs` is built.
const LAZY_UNWINDER: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
];

fn main() {
    println!("cargo:rerun-if-changed=unwinder.ld");
    let variable = |name| env::var(name).unwrap_or_default();
    // A static program has its unwinder in it, and opens no libraries.
    let is_static =
        variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if LAZY_UNWINDER.contains(&variable("TARGET").as_str()) && !is_static {
        // Read when the script runs: a build folder may serve sources that were moved.
        println!("cargo:rustc-link-arg-tests=-Wl,@{}/unwinder.ld", variable("CARGO_MANIFEST_DIR"));
    }
}

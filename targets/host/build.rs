//! Build script: links the test programs in `tests/` with the lazily linked unwinder, as the shared object is.

use std::env;

/// Targets for which `src/unwinder.rs` is built.
const LAZY_UNWINDER: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

fn main() {
    println!("cargo:rerun-if-changed=unwinder.ld");
    if LAZY_UNWINDER.contains(&env::var("TARGET").unwrap_or_default().as_str()) {
        // Read when the script runs: a build folder may serve sources that were moved.
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-tests=-Wl,@{folder}/unwinder.ld");
    }
}

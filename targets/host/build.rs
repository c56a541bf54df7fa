//! Links the programs in `tests/` as the shared object is linked: with the unwinder that is opened late.

use std::env;

/// The systems for which `src/unwinder.rs` is built.
const LATE_UNWINDER: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

fn main() {
    println!("cargo:rerun-if-changed=unwinder.ld");
    if LATE_UNWINDER.contains(&env::var("TARGET").unwrap_or_default().as_str()) {
        println!("cargo:rustc-link-arg-tests=-Wl,@{}/unwinder.ld", env!("CARGO_MANIFEST_DIR"));
    }
}

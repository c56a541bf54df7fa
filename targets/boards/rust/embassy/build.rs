//! Passes the linker scripts.

use std::path::Path;
use std::{env, fs};

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::copy("memory.x", Path::new(&out).join("memory.x")).expect("memory.x is copied");
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-arg=-Tlink.x");
    println!("cargo:rerun-if-changed=memory.x");
}

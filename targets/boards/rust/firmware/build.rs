//! Passes the linker scripts, and converts the network's weights from tests/programs/aot to Rust.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const DATA: &str = "../../../../tests/programs/aot/mlp_f32/data.h";

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::copy("memory.x", Path::new(&out).join("memory.x")).expect("memory.x is copied");
    let header = fs::read_to_string(DATA).expect("the data of mlp_f32");
    fs::write(Path::new(&out).join("data.rs"), in_rust(&header)).expect("data.rs is written");
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-arg=-Tlink.x");
    println!("cargo:rustc-link-arg=-Tdefmt.x");
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rerun-if-changed={DATA}");
}

/// Converts every `static const TYPE mlp_f32_NAME[LENGTH] = {…};` to
/// `pub static NAME: [TYPE; LENGTH] = […];`.
fn in_rust(header: &str) -> String {
    let mut rust = String::new();
    for array in header.split("static const ").skip(1) {
        let (head, rest) = array.split_once("] = {").expect("an array");
        let (values, _) = rest.split_once('}').expect("the end of the array");
        let (kind, head) = head.split_once(' ').expect("a type");
        let (name, length) = head.split_once('[').expect("a length");
        if length.is_empty() || name.ends_with("_out") {
            continue; // shapes, and the expected scores, in place of which the labels are checked
        }
        let kind = if kind == "float" { "f32" } else { "i64" };
        let name = name.trim_start_matches("mlp_f32_").to_uppercase();
        let values = values.replace('f', "");
        writeln!(rust, "pub static {name}: [{kind}; {length}] = [{values}];").expect("text grows");
    }
    rust
}

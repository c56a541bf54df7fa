//! Build script: compiles the C++ part of builds with the feature `cxx-abi`.

#[cfg(feature = "cxx-abi")]
#[path = "cxx/compile.rs"]
mod compile;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "cxx-abi")]
    compile::compile_cxx(&std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
}

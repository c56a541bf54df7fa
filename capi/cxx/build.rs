//! Build script: compiles `src/unit.cc` with the compiler in the environment variable `CXX`, or the
//! system's default, and links the shared C++ runtime of that compiler. Exceptions can cross
//! libraries only if they share a C++ runtime.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "abi")]
    compile();
}

/// Compiles `src/unit.cc`.
#[cfg(feature = "abi")]
fn compile() {
    println!("cargo:rerun-if-changed=src/unit.cc");
    // Keeps paths of the build machine out of the library. Read when the script runs: a build
    // folder may serve sources that were moved.
    let relative = format!(
        "-ffile-prefix-map={}=capi/cxx",
        std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()
    );
    let compiled = cc::Build::new()
        .flag_if_supported(&relative)
        .cpp(true)
        .std("c++17")
        .warnings(true)
        .extra_warnings(true)
        .file("src/unit.cc")
        .try_compile("tvm_ffi_cxx");
    if let Err(error) = compiled {
        eprintln!(
            "error: the feature `cxx-abi` needs a C++ compiler (apt-get install g++, or name one in CXX): {error}"
        );
        std::process::exit(1);
    }
}

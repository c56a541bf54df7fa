//! Part of the build scripts of the packages that have the feature `cxx-abi`.

/// Compiles `cxx/unit.cc` with the compiler in the environment variable `CXX`, or the system's default, and links the
/// shared C++ runtime of that compiler. Exceptions can cross libraries only if they share a C++ runtime.
pub fn compile_cxx(folder: &str) {
    println!("cargo:rerun-if-changed=cxx/unit.cc");
    // Keeps paths of the build machine out of the library.
    let relative = format!("-ffile-prefix-map={folder}=capi");
    let compiled = cc::Build::new()
        .flag_if_supported(&relative)
        .cpp(true)
        .std("c++17")
        .warnings(true)
        .extra_warnings(true)
        .file("cxx/unit.cc")
        .try_compile("tvm_ffi_cxx");
    if let Err(error) = compiled {
        eprintln!(
            "error: the feature `cxx-abi` needs a C++ compiler (apt-get install g++, or name one in CXX): {error}"
        );
        std::process::exit(1);
    }
}

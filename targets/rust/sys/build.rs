//! Build script: finds the `libtvm_ffi` that programs link.
//!
//! The first of these that exists is linked: the folder in the environment variable
//! `TVM_FFI_LIB_DIR`; what pkg-config knows as `tvm_ffi`; the library of the Python package
//! `tvm_ffi`; the release build of the clone that this package is in. A kernel library needs none
//! of them to build, since the process that loads it has one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable that names the folder of the library.
const FOLDER: &str = "TVM_FFI_LIB_DIR";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={FOLDER}");
    if !cfg!(feature = "link") {
        return;
    }
    let Some(library) = find() else {
        return;
    };
    println!("cargo::rerun-if-changed={}", library.display());
    let Some(folder) = library.parent() else {
        return;
    };
    // Cargo passes folders below its own to programs that it runs, so these find the library
    // without an environment.
    let linked = link_beside(&library).unwrap_or_else(|| folder.to_path_buf());
    println!("cargo::rustc-link-search=native={}", linked.display());
    println!("cargo::rustc-link-lib=dylib=tvm_ffi");
    println!("cargo::metadata=libdir={}", folder.display());
}

/// Returns the path of the library, or `None` if there is none for this target.
fn find() -> Option<PathBuf> {
    if let Some(folder) = env::var_os(FOLDER) {
        let library = Path::new(&folder).join(file_name());
        if !library.exists() {
            println!("cargo::error={FOLDER} is {}, which has no {}", folder.display(), file_name());
        }
        return Some(library);
    }
    // What is installed here is for this machine.
    if env::var_os("HOST") != env::var_os("TARGET") {
        return None;
    }
    let folders = [
        output("pkg-config", &["--variable=libdir", "tvm_ffi"]),
        output("python3", &["-m", "tvm_ffi.config", "--libdir"]),
        env::var("CARGO_MANIFEST_DIR")
            .ok()
            .map(|package| format!("{package}/../../../target/release")),
    ];
    folders
        .into_iter()
        .flatten()
        .map(|folder| Path::new(&folder).join(file_name()))
        .find(|library| library.exists())
}

/// Returns the file name of the library on the target.
fn file_name() -> &'static str {
    match env::var("CARGO_CFG_TARGET_VENDOR").as_deref() {
        Ok("apple") => "libtvm_ffi.dylib",
        _ => "libtvm_ffi.so",
    }
}

/// Returns what a command prints, or `None` if it fails.
fn output(program: &str, args: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Makes a link to the library in the output folder of this build, and returns the folder.
fn link_beside(library: &Path) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let link = folder.join(library.file_name()?);
    let _ = std::fs::remove_file(&link);
    make_link(&library.canonicalize().ok()?, &link).ok()?;
    Some(folder)
}

#[cfg(unix)]
fn make_link(library: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(library, link)
}

#[cfg(not(unix))]
fn make_link(library: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(library, link).map(drop)
}

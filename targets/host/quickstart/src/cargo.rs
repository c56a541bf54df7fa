//! Builds the Rust parts of the quick start with cargo: the library, and the example kernel
//! library.

use crate::layout::Layout;
use crate::step::Outcome;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;
use std::process::Command;

fn cargo_build() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["build", "--release"]);
    command
}

fn run(mut command: Command, what: &str) -> Outcome<()> {
    let status = command
        .status()
        .map_err(|error| format!("cannot run cargo ({error}): is Rust installed?"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what} was not built: see cargo's message above"))
    }
}

/// Builds `libtvm_ffi` with the given cargo features. Compiled models need `backend` or a device
/// feature.
pub fn build_library(layout: &Layout, features: &str) -> Outcome<()> {
    let mut command = cargo_build();
    command.args(["--package", "ferrite-ffi-capi", "--features", features, "--manifest-path"]);
    command.arg(layout.root().join("Cargo.toml")).arg("--target-dir").arg(layout.target());
    run(command, "libtvm_ffi")?;
    layout.require(&layout.library_dir().join(format!("{DLL_PREFIX}tvm_ffi{DLL_SUFFIX}")))
}

/// Builds the example kernel library in Rust, a client of the C ABI, and returns its path. It has
/// its own target folder, so that its cargo features do not mix with those of `libtvm_ffi`. Returns
/// `None` if the checkout does not contain it.
pub fn build_rust_kernels(layout: &Layout) -> Outcome<Option<PathBuf>> {
    let manifest = layout.quickstart("rust_kernels").join("Cargo.toml");
    if !manifest.is_file() {
        return Ok(None);
    }
    let target = layout.target().join("rust_kernels");
    let mut command = cargo_build();
    command.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target);
    run(command, "the kernel library in Rust")?;
    let library = target.join("release").join(format!("{DLL_PREFIX}rust_kernels{DLL_SUFFIX}"));
    layout.require(&library)?;
    Ok(Some(library))
}

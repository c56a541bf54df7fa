//! The stand-in for drivers of GPUs, see `tests/device/stand_in`.

use crate::{Outcome, output_of, paths};
use std::path::PathBuf;
use std::process::Command;

/// Builds the stand-in with the names of one kind of driver, as a library of that driver's name: `cuda` and `libcuda.so.1`.
/// Gives its path. Programs that start with its folder in `LD_LIBRARY_PATH` have it as their driver, and so has a process
/// that opens it before the driver, since the dynamic linker knows it by that name.
///
/// # Errors
/// When it does not build.
pub fn stand_in(kind: &str, name: &str) -> Outcome<PathBuf> {
    let target = paths::target()?.join("stand-in").join(kind);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["rustc", "--package", "ferrite-stand-in", "--features", kind]);
    command.arg("--manifest-path").arg(paths::root().join("Cargo.toml"));
    command.arg("--target-dir").arg(&target).args(["--", "-C"]).arg(format!("link-arg=-Wl,-soname,{name}"));
    output_of(&mut command)?;
    let folder = target.join("lib");
    std::fs::create_dir_all(&folder)?;
    let library = folder.join(name);
    // A new file in one step: another test may have the old one open.
    let copy = folder.join(format!("{name}.{}", std::process::id()));
    std::fs::copy(target.join("debug/libferrite_stand_in.so"), &copy)?;
    std::fs::rename(copy, &library)?;
    Ok(library)
}

//! The stand-in for drivers of GPUs, see `tests/programs/device/stand_in`.

use crate::{Outcome, output_of, paths};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Builds the stand-in with the names of one kind of driver, as a library of that driver's name: `cuda` and `libcuda.so.1`.
/// Gives its path. Programs that start with its folder in `LD_LIBRARY_PATH` have it as their driver, and so has a process
/// that opens it before the driver, since the dynamic linker knows it by that name.
///
/// # Errors
/// When it does not build.
pub fn stand_in(kind: &str, name: &str) -> Outcome<PathBuf> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let target = paths::target()?.join("stand-in").join(kind);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["rustc", "--package", "ferrite-stand-in", "--features", kind]);
    command.arg("--manifest-path").arg(paths::root().join("Cargo.toml"));
    command.arg("--target-dir").arg(&target).args(["--", "-C"]).arg(format!("link-arg=-Wl,-soname,{name}"));
    output_of(&mut command)?;
    let folder = target.join("lib");
    std::fs::create_dir_all(&folder)?;
    let library = folder.join(name);
    // A new file in one step: another program may have the old one open.
    let copy = folder.join(format!("{name}.{}", std::process::id()));
    std::fs::copy(target.join("debug/libferrite_stand_in.so"), &copy)?;
    std::fs::rename(copy, &library)?;
    Ok(library)
}

/// The folder for `LD_LIBRARY_PATH` in which programs find the stand-in; None where one of these files tells that there is a GPU
/// with its driver, which then runs the tests, unless `FERRITE_TEST_DRIVER` is `stand-in`.
///
/// # Errors
/// When the stand-in does not build.
pub fn stand_in_unless_real(kind: &str, name: &str, devices: &[&str]) -> Outcome<Option<PathBuf>> {
    let is_wanted = std::env::var_os("FERRITE_TEST_DRIVER").is_none_or(|driver| driver != "stand-in");
    if is_wanted && devices.iter().any(|device| Path::new(device).exists()) {
        println!("runs on the real driver of this machine");
        return Ok(None);
    }
    println!("runs on the stand-in: no GPU was found");
    Ok(stand_in(kind, name)?.parent().map(Path::to_path_buf))
}

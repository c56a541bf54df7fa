//! Builds the stand-in for GPU drivers (see `tests/programs/device/stand_in`).

use crate::{Outcome, output_of, paths};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Builds the stand-in for one kind of driver, such as `cuda`, as a library with the driver's name,
/// such as `libcuda.so.1`. Returns its path. Programs started with its folder in `LD_LIBRARY_PATH`
/// use it as their driver. So does a process that opens it before the driver, since the dynamic
/// linker then knows it by that name.
///
/// # Errors
/// If it does not build.
pub fn stand_in(kind: &str, name: &str) -> Outcome<PathBuf> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let target = paths::target()?.join("stand-in").join(kind);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["rustc", "--package", "ferrite-stand-in", "--features", kind]);
    command.arg("--manifest-path").arg(paths::root().join("Cargo.toml"));
    command
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-C"])
        .arg(format!("link-arg=-Wl,-soname,{name}"));
    output_of(&mut command)?;
    let folder = target.join("lib");
    std::fs::create_dir_all(&folder)?;
    let library = folder.join(name);
    // Replaced atomically, since another program may have the old one open.
    let copy = folder.join(format!("{name}.{}", std::process::id()));
    std::fs::copy(target.join("debug/libferrite_stand_in.so"), &copy)?;
    std::fs::rename(copy, &library)?;
    Ok(library)
}

/// Returns the folder of the stand-in, for `LD_LIBRARY_PATH`. Returns `None` if one of these device
/// files exists: then the tests run on the real driver, unless `FERRITE_TEST_DRIVER` is `stand-in`.
///
/// # Errors
/// If the stand-in does not build.
pub fn stand_in_unless_real(kind: &str, name: &str, devices: &[&str]) -> Outcome<Option<PathBuf>> {
    let is_wanted =
        std::env::var_os("FERRITE_TEST_DRIVER").is_none_or(|driver| driver != "stand-in");
    if is_wanted && devices.iter().any(|device| Path::new(device).exists()) {
        println!("runs on the real driver of this machine");
        return Ok(None);
    }
    println!("runs on the stand-in: no GPU was found");
    Ok(stand_in(kind, name)?.parent().map(Path::to_path_buf))
}

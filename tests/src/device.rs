//! Builds C programs and libraries from the device fixtures in `tests/programs/device`.

use crate::{Cc, Library, Outcome, output_of, paths, quickstart};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder of the fixtures.
pub fn fixtures() -> PathBuf {
    paths::root().join("tests/programs/device")
}

/// Begins the compilation of a library with the host code and the device module of a kind.
pub fn models(folder: &Path, kind: &str, host: &str) -> Cc {
    models_of(folder, kind, host, "library_bin.bin")
}

/// Begins the compilation of a library with host code and one of the device modules of a kind.
pub fn models_of(folder: &Path, kind: &str, host: &str, bin: &str) -> Cc {
    let kind = fixtures().join(kind);
    Cc::shared(folder.join("libmodels.so"))
        .generated()
        .args([format!("-DBIN=\"{}\"", kind.join(bin).display())])
        .source(fixtures().join("library_bin.S"))
        .source(kind.join(host))
}

/// Begins the compilation of a program from sources in the folder of the fixtures.
pub fn program(folder: &Path, name: &str, sources: &[&str]) -> Cc {
    let cc = Cc::program(folder.join(name)).strict().headers(quickstart()).headers(fixtures());
    let cc = sources.iter().fold(cc, |cc, source| cc.source(fixtures().join(source)));
    cc.source(quickstart().join("ferrite_util.c"))
}

/// Builds the failing driver of a kind: a library named `soname` in `folder`, which forwards calls
/// to the system's library. A program finds it first if `LD_LIBRARY_PATH` contains the folder.
///
/// # Errors
/// If the compiler fails, or if this machine has no such library.
pub fn failing_driver(folder: &Path, kind: &str, soname: &str) -> Outcome<PathBuf> {
    let behind = format!("lib{kind}_system.so");
    let system = system_library(soname)?;
    // A stub to link with, since the real library has the soname of the failing driver.
    let stub = folder.join("stub");
    std::fs::create_dir_all(&stub).map_err(|error| error.to_string())?;
    let empty = stub.join("empty.c");
    std::fs::write(&empty, "").map_err(|error| error.to_string())?;
    Cc::shared(stub.join(&behind)).source(empty).args([format!("-Wl,-soname,{behind}")]).link()?;
    let link = folder.join(&behind);
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(system, link).map_err(|error| error.to_string())?;
    Cc::shared(folder.join(soname))
        .strict()
        .source(fixtures().join(kind).join("failing_driver.c"))
        .args([format!("-Wl,-soname,{soname}"), format!("-DSYSTEM_DRIVER=\"{behind}\"")])
        .args([
            format!("-L{}", stub.display()),
            "-Wl,--no-as-needed".into(),
            format!("-l{kind}_system"),
        ])
        .args(["-Wl,-rpath,$ORIGIN", "-ldl"])
        .link()
}

/// Returns the path of a library known to the dynamic linker.
fn system_library(soname: &str) -> Outcome<PathBuf> {
    let known = output_of(Command::new("ldconfig").arg("-p"))?;
    let mut lines =
        known.lines().filter(|line| line.trim_start().starts_with(&format!("{soname} ")));
    match lines.find_map(|line| line.split(" => ").nth(1)) {
        Some(path) => Ok(PathBuf::from(path)),
        None => Err(format!("{soname} is missing").into()),
    }
}

/// Links a program with the library under test. Returns the command that runs it.
///
/// # Errors
/// If the compiler fails.
pub fn command(cc: Cc, library: &Library) -> Outcome<Command> {
    Ok(Command::new(cc.args(["-ldl"]).link_shared(library)?))
}

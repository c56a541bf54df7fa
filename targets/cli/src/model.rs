//! `ferrite model`: runs the program in `targets/model`, which compiles a model by TVM in
//! Python.
//!
//! The command contains the program's files, and writes them to a temporary folder with the layout
//! of a clone. A clone is needed only for what is built from sources: firmware, and the library for
//! web pages, unless it is named.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::registered::Registered;

/// Files of the program and of the projects that it writes, by their paths in a clone; the build
/// script lists them.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/model_files.rs"));

/// Folder of this package when the command was built. Empty in packages, so that they contain no
/// path of the build machine.
const BUILT_IN: &str = match option_env!("FERRITE_PACKAGED") {
    Some(_) => "",
    None => env!("CARGO_MANIFEST_DIR"),
};

/// Runs the program with these arguments. `PYTHON` names the interpreter that has TVM.
///
/// # Errors
/// [`Kind::Missing`](crate::failure::Kind::Missing) without the interpreter;
/// [`Kind::Negative`](crate::failure::Kind::Negative) if the files cannot be written. Ends this
/// process with the program's own status if that is not 0.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let unpacked = Unpacked::new()?;
    let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
    let mut command = Command::new(&python);
    // Without a cache of compiled files, which nobody reads again.
    command.arg("-B").arg(unpacked.folder.join("targets/model")).args(arguments);
    if let Some(clone) = clone().filter(|_| std::env::var_os("FERRITE").is_none()) {
        command.env("FERRITE", clone);
    }
    if let Some(prefix) = prefix() {
        command.env("FERRITE_PREFIX", prefix);
    }
    let status = command.status();
    drop(unpacked);
    match status {
        Ok(status) if status.success() => Ok(()),
        // The program has said why.
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => {
            let name = python.to_string_lossy();
            let help = "Install Python 3.10 or later, or name it by PYTHON";
            Err(Failure::missing(format!("cannot run `{name}`: {error}. {help}")))
        }
    }
}

/// Returns the clone of the repository in which cargo runs this program, or in which it was built.
fn clone() -> Option<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(BUILT_IN.into());
    let root = Path::new(&package).join("../..");
    let is_clone = !package.is_empty() && root.join("targets/model/__main__.py").is_file();
    is_clone.then_some(root)
}

/// Returns the folder into which the command was installed: `/usr/local` for
/// `/usr/local/bin/ferrite`.
fn prefix() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.parent()?.to_path_buf())
}

/// A temporary folder with the files, which is removed when the value is dropped.
struct Unpacked {
    folder: PathBuf,
}

impl Unpacked {
    fn new() -> Outcome<Unpacked> {
        let place = std::env::temp_dir();
        let failed = |error| {
            Failure::negative(format!("cannot write files to {}: {error}", place.display()))
        };
        let unpacked = Unpacked { folder: create_private(&place).map_err(failed)? };
        for (path, content) in FILES {
            unpacked.write(path, content).map_err(failed)?;
        }
        let functions: Vec<_> = Registered::now()?.functions.into_iter().collect();
        unpacked.write("builtins.txt", &functions.join("\n")).map_err(failed)?;
        Ok(unpacked)
    }

    fn write(&self, path: &str, content: &str) -> std::io::Result<()> {
        let file = self.folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        std::fs::write(file, content)
    }
}

/// Number of names that are tried.
const NAMES: u32 = 1000;

/// Creates a folder in `place` that only this user can read and write.
fn create_private(place: &Path) -> std::io::Result<PathBuf> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut number = 0;
    loop {
        let folder = place.join(format!("ferrite-model-{}-{number}", std::process::id()));
        match builder.create(&folder) {
            // It is someone else's, or of a process that was killed.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < NAMES => {
                number += 1
            }
            outcome => return outcome.map(|()| folder),
        }
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_embedded_without_its_tests() {
        let is_embedded = |path: &str| FILES.iter().any(|(file, _)| *file == path);
        for path in ["model/__main__.py", "model/language/command.py", "model/project/board.c"] {
            assert!(is_embedded(&format!("targets/{path}")), "{path}");
        }
        assert!(is_embedded("targets/boards/firmware/element.c"));
        assert!(is_embedded("include/tvm/ffi/c_api.h"));
        assert!(is_embedded("targets/web/npm/src/model.mjs"));
        assert!(is_embedded("targets/host/python/ferrite_tvm_ffi_web.py"));
        for path in ["model/tests.py", "model/hostile.py", "model/README.md"] {
            assert!(!is_embedded(&format!("targets/{path}")), "{path}");
        }
    }
}

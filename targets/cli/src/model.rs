//! `ferrite model`: runs the program in `targets/model`, which compiles a model by TVM in
//! Python.
//!
//! The command contains the program's files, and writes them to a temporary folder with the layout
//! of a clone. A clone is needed for firmware only, which is built from sources.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::registered::Registered;

/// Embeds files: `path in a clone = path in the folder data`.
macro_rules! embedded {
    ($($folder:literal => $source:literal [$($file:literal)*])*) => {
        &[$($((concat!($folder, $file), include_str!(concat!("../data/", $source, $file))),)*)*]
    };
}

/// Files of the program and of the projects that it writes, by their paths in a clone.
const FILES: &[(&str, &str)] = embedded! {
    "targets/model/" => "model/" [
        "__main__.py" "archive.py" "compiler.py" "executable.py" "execution.py" "failure.py" "frontend.py" "library.py" "plan.py"
        "project.py" "quote.py" "signature.py" "targets.py"
    ]
    "targets/model/kernels/" => "model/kernels/" [
        "__init__.py" "activation.py" "attention.py" "call.py" "convolution.py" "dense.py" "epilogue.py" "fold.py" "graph.py"
        "link.py" "pack.py"
    ]
    "targets/model/language/" => "model/language/" [
        "__init__.py" "bert.py" "chat.py" "checkpoint.py" "command.py" "description.py" "encoder.py" "kernels.py"
        "network.py" "options.py" "parameters.py"
    ]
    "targets/model/onnx_graph/" => "model/onnx_graph/" [
        "__init__.py" "emit.py" "fold.py" "inputs.py" "names.py" "operators.py" "recurrent.py"
    ]
    "targets/model/project/" => "model/project/" [
        "board.c" "board.md" "board.sh" "device.c" "host.c" "host.h" "host.md" "host.sh" "model.h" "results.c" "results.h"
    ]
    "targets/boards/firmware/" => "firmware/" ["element.c" "element.h"]
    "include/" => "include/" ["tvm_ffi_model.h" "tvm/ffi/c_api.h" "dlpack/dlpack.h"]
};

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
    fn every_file_of_the_program_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for part in ["", "/kernels", "/language", "/onnx_graph", "/project"] {
            let folder = format!("targets/model{part}");
            for entry in std::fs::read_dir(root.join(&folder)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let is_needed = path.is_file()
                    && !matches!(
                        name.as_str(),
                        "README.md"
                            | "tests.py"
                            | "hostile.py"
                            | "language_tests.py"
                            | "kernel_tests.py"
                    );
                let is_embedded = FILES.iter().any(|(file, _)| *file == format!("{folder}/{name}"));
                assert_eq!(is_embedded, is_needed, "{folder}/{name}");
            }
        }
    }
}

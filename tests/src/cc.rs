//! Compiles C with the system's compiler (`CC`, or `cc`) against our headers and the library under test.

use crate::{Library, Outcome, output_of, paths};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One call of the compiler.
#[derive(Debug)]
pub struct Cc {
    command: Command,
    output: PathBuf,
}

impl Cc {
    /// A program at this path.
    pub fn program(output: impl Into<PathBuf>) -> Self {
        let named = std::env::var("CC").unwrap_or_default();
        let mut words = named.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("cc"));
        command.args(words);
        // The strictness is for our headers as well. DWARF 4 is what the valgrind of older systems reads.
        command.arg("-I").arg(paths::include()).args(["-O1", "-gdwarf-4"]);
        Self { command, output: output.into() }
    }

    /// A shared library at this path.
    pub fn shared(output: impl Into<PathBuf>) -> Self {
        Self::program(output).args(["-fPIC", "-shared"])
    }

    /// ANSI C without a warning: for sources that people write.
    #[must_use]
    pub fn strict(self) -> Self {
        self.args(["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror"])
    }

    /// C99 without warnings: for sources that a compiler writes.
    #[must_use]
    pub fn generated(self) -> Self {
        self.args(["-std=c99", "-w"])
    }

    /// Address and undefined-behaviour checks, each of which ends the program.
    #[must_use]
    pub fn sanitized(self) -> Self {
        self.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
    }

    /// A source or an object.
    #[must_use]
    pub fn source(mut self, path: impl AsRef<Path>) -> Self {
        self.command.arg(path.as_ref());
        self
    }

    /// A folder whose headers are held to the same strictness.
    #[must_use]
    pub fn headers(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.arg("-I").arg(folder.as_ref());
        self
    }

    /// A folder with headers that other tools have made.
    #[must_use]
    pub fn system_headers(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.arg("-isystem").arg(folder.as_ref());
        self
    }

    /// Further arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// Links the shared library and finds it again at run time.
    ///
    /// # Errors
    /// When the compiler fails.
    pub fn link_shared(mut self, library: &Library) -> Outcome<PathBuf> {
        let folder = library.folder();
        self.command.arg("-L").arg(folder);
        self.command.arg(format!("-Wl,-rpath,{}", folder.display()));
        if cfg!(target_os = "linux") {
            // Before LD_LIBRARY_PATH, in which cargo names folders that may hold a library of another build.
            self.command.arg("-Wl,--disable-new-dtags");
        }
        self.args(["-ltvm_ffi", "-lm"]).link()
    }

    /// Links the archive.
    ///
    /// # Errors
    /// When the compiler fails.
    pub fn link_static(mut self, library: &Library) -> Outcome<PathBuf> {
        self.command.arg(library.archive());
        self.args(["-lpthread", "-ldl", "-lm"]).link()
    }

    /// Links nothing of ours.
    ///
    /// # Errors
    /// When the compiler fails.
    pub fn link(mut self) -> Outcome<PathBuf> {
        self.command.arg("-o").arg(&self.output);
        output_of(&mut self.command)?;
        Ok(self.output)
    }
}

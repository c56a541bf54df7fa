//! C compilation with the system's compiler (`CC`, or `cc`) against this project's headers and the
//! library under test.

use crate::{Library, Outcome, output_of, paths};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builder of a compiler invocation.
#[derive(Debug)]
pub struct Cc {
    command: Command,
    output: PathBuf,
}

impl Cc {
    /// Begins the compilation of a program at this path.
    pub fn program(output: impl Into<PathBuf>) -> Self {
        let named = std::env::var("CC").unwrap_or_default();
        let mut words = named.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("cc"));
        command.args(words);
        // The strictness applies to the project's headers, too. The valgrind of older systems needs
        // DWARF 4.
        command.arg("-I").arg(paths::include()).args(["-O1", "-gdwarf-4"]);
        Self { command, output: output.into() }
    }

    /// Begins the compilation of a shared library at this path.
    pub fn shared(output: impl Into<PathBuf>) -> Self {
        Self::program(output).args(["-fPIC", "-shared"])
    }

    /// Requires ANSI C without warnings, for hand-written sources.
    #[must_use]
    pub fn strict(self) -> Self {
        self.args(["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror"])
    }

    /// Accepts C99 and disables warnings, for generated sources.
    #[must_use]
    pub fn generated(self) -> Self {
        self.args(["-std=c99", "-w"])
    }

    /// Adds address and undefined-behaviour checks, each of which aborts the program.
    #[must_use]
    pub fn sanitized(self) -> Self {
        self.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
    }

    /// Adds a source or object file.
    #[must_use]
    pub fn source(mut self, path: impl AsRef<Path>) -> Self {
        self.command.arg(path.as_ref());
        self
    }

    /// Adds a folder of headers, to which the same warnings apply.
    #[must_use]
    pub fn headers(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.arg("-I").arg(folder.as_ref());
        self
    }

    /// Adds a folder of generated headers, for which warnings are disabled.
    #[must_use]
    pub fn system_headers(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.arg("-isystem").arg(folder.as_ref());
        self
    }

    /// Adds compiler arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// Compiles and links with the shared library, with a run path to it. Returns the path of the
    /// output.
    ///
    /// # Errors
    /// If the compiler fails.
    pub fn link_shared(mut self, library: &Library) -> Outcome<PathBuf> {
        let folder = library.folder();
        self.command.arg("-L").arg(folder);
        self.command.arg(format!("-Wl,-rpath,{}", folder.display()));
        if cfg!(target_os = "linux") {
            // The run path must precede LD_LIBRARY_PATH, in which cargo names folders that may have
            // the library of another build.
            self.command.arg("-Wl,--disable-new-dtags");
        }
        self.args(["-ltvm_ffi", "-lm"]).link()
    }

    /// Compiles and links with the archive. Returns the path of the output.
    ///
    /// # Errors
    /// If the compiler fails.
    pub fn link_static(mut self, library: &Library) -> Outcome<PathBuf> {
        self.command.arg(library.archive());
        self.args(["-lpthread", "-ldl", "-lm"]).link()
    }

    /// Compiles and links without the library. Returns the path of the output.
    ///
    /// # Errors
    /// If the compiler fails.
    pub fn link(mut self) -> Outcome<PathBuf> {
        self.command.arg("-o").arg(&self.output);
        output_of(&mut self.command)?;
        Ok(self.output)
    }
}

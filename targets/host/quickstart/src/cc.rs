//! Compiles C programs and libraries with the system's compiler, against the headers and library of
//! this checkout.

use crate::layout::Layout;
use crate::step::Outcome;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiler options for the language standard and warnings.
pub type Strictness = &'static [&'static str];

/// Options for hand-written sources: strict ANSI C, with warnings as errors.
pub const OWN: Strictness = &["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror"];
/// Options for generated sources: C99, with warnings off.
pub const GENERATED: Strictness = &["-std=c99", "-w"];

const NO_COMPILER: &str = "Install one (Debian, Ubuntu: `apt install gcc libc6-dev`; Fedora: `dnf install gcc`; \
    macOS: `xcode-select --install`) or name yours with the variable CC.";

/// The C compiler, and the folders in which it searches for headers and libraries.
pub struct Compiler {
    program: OsString,
    extra: Vec<String>,
    include: PathBuf,
    helpers: PathBuf,
    models: PathBuf,
    library_dir: PathBuf,
    output: PathBuf,
}

impl Compiler {
    /// Finds the compiler: the command in the environment variable `CC`, which may include
    /// arguments, or else `cc`.
    pub fn find(layout: &Layout) -> Outcome<Self> {
        let named = std::env::var("CC").unwrap_or_default();
        let mut words = named.split_whitespace().map(String::from);
        let compiler = Self {
            program: words.next().unwrap_or("cc".into()).into(),
            extra: words.collect(),
            include: layout.include(),
            helpers: layout.quickstart(""),
            models: layout.models(),
            library_dir: layout.library_dir(),
            output: layout.output()?,
        };
        compiler.probe()?;
        Ok(compiler)
    }

    fn probe(&self) -> Outcome<()> {
        let found = Command::new(&self.program).args(&self.extra).arg("--version").output();
        let name = self.program.to_string_lossy();
        match found {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                Err(format!("`{name} --version` ended with {}. {NO_COMPILER}", output.status))
            }
            Err(error) => {
                Err(format!("cannot run the C compiler `{name}`: {error}. {NO_COMPILER}"))
            }
        }
    }

    /// Compiles sources into a shared library, and returns its path.
    pub fn library(
        &self,
        name: &str,
        sources: &[PathBuf],
        strictness: Strictness,
        defines: &[String],
    ) -> Outcome<PathBuf> {
        let output = self.output.join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"));
        let mut command = self.command(strictness);
        command.args(["-fPIC", "-shared"]).args(defines).args(sources);
        self.link(command, &output)?;
        Ok(output)
    }

    /// Compiles hand-written sources into a program, and returns its path.
    pub fn program(&self, name: &str, sources: &[PathBuf]) -> Outcome<PathBuf> {
        let output = self.output.join(name);
        let mut command = self.command(OWN);
        command.args(sources);
        self.link(command, &output)?;
        Ok(output)
    }

    /// Sets the environment of `command` so that the dynamic linker searches this checkout's
    /// library folder first.
    pub fn prefer_library(&self, command: &mut Command) {
        let variable =
            if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
        let mut folders = vec![self.library_dir.clone()];
        folders.extend(std::env::var_os(variable).iter().flat_map(std::env::split_paths));
        if let Ok(joined) = std::env::join_paths(folders) {
            command.env(variable, joined);
        }
    }

    fn command(&self, strictness: Strictness) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.extra).args(strictness).arg("-O2");
        // The models' data are system headers, so that a program that uses only some of them gets
        // no warnings.
        command
            .arg("-I")
            .arg(&self.include)
            .arg("-I")
            .arg(&self.helpers)
            .arg("-isystem")
            .arg(&self.models);
        command
    }

    fn link(&self, mut command: Command, output: &Path) -> Outcome<()> {
        command.arg("-o").arg(output).arg("-L").arg(&self.library_dir).arg("-ltvm_ffi").arg("-lm");
        command.arg(format!("-Wl,-rpath,{}", self.library_dir.display()));
        let status =
            command.status().map_err(|error| format!("cannot run the C compiler: {error}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("this command ended with {status}:\n  {command:?}"))
        }
    }
}

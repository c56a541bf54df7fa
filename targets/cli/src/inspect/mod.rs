//! `ferrite inspect`: describes a library. The file is read and never run; `--run` loads it in a
//! child process.

mod archive;
mod device;
pub mod embedded;
mod file;
pub mod loaded;
pub mod needs;
pub mod provider;
mod relax;
pub mod report;
mod text;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Outcome;
use crate::library::{self, LibraryFile};
use crate::output;

use report::Report;

/// Describe a library: functions, embedded modules, kernels, and the symbols that it needs
///
/// Reads the file without running it. With --run, a child process loads the library and asks it for
/// signatures and documentation.
#[derive(Args)]
pub struct Inspect {
    /// Library, relocatable object or embedded binary
    pub library: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also load the library in a child process, for signatures, documentation and metadata
    #[arg(long)]
    pub run: bool,
    /// Load the library in this process, and print the descriptions of its functions: what --run
    /// starts
    #[arg(long, hide = true)]
    pub in_process: bool,
}

/// Runs the command.
pub fn run(options: &Inspect) -> Outcome<()> {
    if options.in_process {
        return loaded::describe_in_process(&options.library);
    }
    let mut report = describe(&options.library)?;
    if options.run {
        loaded::add_descriptions(&options.library, &mut report)?;
    }
    if options.json {
        output::print_json(&report)
    } else {
        output::print_report(&text::of(&report))
    }
}

/// Describes the file at `path` without running it.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a file that is not a library or archive, and
/// for malformed ones.
pub fn describe(path: &Path) -> Outcome<Report> {
    let bytes = library::read(path)?;
    if library::is_archive(&bytes) {
        return archive::describe(path, &bytes);
    }
    let object = LibraryFile::parse(path, &bytes)?;
    let mut report = file::describe(path, &object, bytes.len())?;
    report.provides = provider::of(&|name| object.defines(name), &bytes);
    Ok(report)
}

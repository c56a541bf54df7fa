//! `ferrite inspect`: describes a library. The file is read and never run; `--run` loads it in a
//! child process.

mod archive;
mod device;
pub mod embedded;
pub mod loaded;
pub mod needs;
pub mod provider;
mod relax;
pub mod report;
mod text;

use std::path::Path;

use crate::arguments::Inspect;
use crate::failure::Outcome;
use crate::library::{self, LibraryFile};

use report::{Format, FunctionReport, Report};

/// Symbol of the embedded binary.
const LIBRARY_BIN: &str = "__tvm_ffi__library_bin";
/// Symbol of the embedded binary of libraries that TVM compiled before tvm-ffi.
const EARLIER_BIN: &str = "__tvm_dev_mblob";

/// Runs the command.
pub fn run(options: &Inspect) -> Outcome<()> {
    if options.in_process {
        return loaded::describe_in_process(&options.library);
    }
    let mut report = describe(&options.library)?;
    if options.run {
        loaded::add_descriptions(&options.library, &mut report)?;
    }
    if options.json { crate::print_json(&report) } else { crate::print_report(&text::of(&report)) }
}

/// Describes the file at `path` without running it.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for what is no library or archive, and for
/// malformed ones.
pub fn describe(path: &Path) -> Outcome<Report> {
    let bytes = library::read(path)?;
    if library::is_archive(&bytes) {
        return archive::describe(path, &bytes);
    }
    let file = LibraryFile::parse(path, &bytes)?;
    let mut report = describe_file(path, &file, bytes.len())?;
    report.provides = provider::of(&|name| file.defines(name), &bytes);
    Ok(report)
}

/// Describes a parsed file of `size` bytes.
fn describe_file(path: &Path, file: &LibraryFile<'_>, size: usize) -> Outcome<Report> {
    let function = |name: String| FunctionReport {
        has_doc: file.defines(&format!("__tvm_ffi__doc_{name}")),
        has_metadata: file.defines(&format!("__tvm_ffi__metadata_{name}")),
        name,
        signature: None,
        doc: None,
        metadata: None,
    };
    let embedded = file.data_of(LIBRARY_BIN).map(embedded::describe);
    Ok(Report {
        library: path.display().to_string(),
        format: Format {
            container: file.container(),
            role: file.role(),
            objects: None,
            architecture: file.architecture(),
            bits: file.bits(),
            big_endian: file.is_big_endian(),
            runs_here: file.is_for_this_machine(),
        },
        sizes: file.sizes(size),
        dependencies: file.dependencies(),
        functions: file.functions().into_iter().map(function).collect(),
        slots: slots(file),
        is_packed: file.defines(EARLIER_BIN),
        embedded: embedded.transpose()?,
        needs: needs::of(&file.undefined()),
        provides: None,
        global_functions: None,
        types: None,
    })
}

/// Returns the pointer slots that the loader fills.
fn slots(file: &LibraryFile<'_>) -> Vec<String> {
    const SLOTS: &[&str] = &[
        "__TVMBackendAllocWorkspace",
        "__TVMBackendFreeWorkspace",
        "__TVMBackendParallelBarrier",
        "__TVMBackendParallelLaunch",
        "__TVMFFIEnvModLookupFromImports",
        "__TVMFFIErrorSetRaisedFromCStr",
        "__TVMFFIFunctionCall",
        "__TVMFFIHandleInitOnce",
        "__tvm_ffi__library_ctx",
    ];
    SLOTS.iter().filter(|slot| file.defines(slot)).map(ToString::to_string).collect()
}

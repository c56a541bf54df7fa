//! One object of a library: its functions, slots, sizes and embedded modules.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::failure::Outcome;
use crate::library::LibraryFile;

use super::report::{Format, FunctionReport, Report};
use super::{embedded, needs};

/// Symbol of the embedded binary.
const LIBRARY_BIN: &str = "__tvm_ffi__library_bin";
/// Symbol of the embedded binary of libraries that TVM compiled before tvm-ffi.
const EARLIER_BIN: &str = "__tvm_dev_mblob";

/// Describes a parsed file of `size` bytes.
pub fn describe(path: &Path, file: &LibraryFile<'_>, size: usize) -> Outcome<Report> {
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

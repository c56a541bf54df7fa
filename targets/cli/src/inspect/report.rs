//! The description of a library, as `--json` prints it.

use serde::Serialize;

use crate::library::Sizes;
use crate::registered::TypeReport;
use crate::signature::Signature;

use super::provider::Provider;

/// Description of a library.
#[derive(Serialize)]
pub struct Report {
    /// Path, as the user wrote it.
    pub library: String,
    /// File format.
    pub format: Format,
    /// Sizes in bytes.
    pub sizes: Sizes,
    /// Libraries that the library links.
    pub dependencies: Vec<String>,
    /// Exported functions.
    pub functions: Vec<FunctionReport>,
    /// Pointer slots that the loader fills.
    pub slots: Vec<String>,
    /// Whether TVM before tvm-ffi compiled the library, with embedded modules in a format that this
    /// command does not describe.
    pub is_packed: bool,
    /// Modules that are embedded in the library; `None` if there are none.
    pub embedded: Option<Embedded>,
    /// Symbols that the library needs from `libtvm_ffi`.
    pub needs: Needs,
    /// Description of a library that is a `libtvm_ffi` itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provides: Option<Provider>,
    /// Global functions that the library registers, with `--run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_functions: Option<Vec<String>>,
    /// Types that the library registers, with `--run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<TypeReport>>,
}

/// File format and processor.
#[derive(Serialize)]
pub struct Format {
    pub container: &'static str,
    pub role: &'static str,
    /// Number of objects in an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<usize>,
    pub architecture: String,
    pub bits: u32,
    pub big_endian: bool,
    /// Whether a process on this machine can load the library.
    pub runs_here: bool,
}

/// An exported function.
#[derive(Serialize)]
pub struct FunctionReport {
    pub name: String,
    pub has_doc: bool,
    pub has_metadata: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
}

/// Modules that are embedded in a library.
#[derive(Serialize)]
pub struct Embedded {
    /// Size with the length field.
    pub bytes: usize,
    /// Modules, of which the first is the root.
    pub modules: Vec<ModuleReport>,
}

impl Embedded {
    /// Returns the kinds of the modules whose payloads are malformed, with the reasons.
    pub fn malformed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.modules.iter().filter_map(|module| match &module.content {
            Some(Content::Malformed(why)) => Some((module.kind.as_str(), why.as_str())),
            _ => None,
        })
    }
}

/// An embedded module.
#[derive(Serialize)]
pub struct ModuleReport {
    /// Kind, such as `_lib` for the library's own functions, or `cuda`.
    pub kind: String,
    /// Size of the payload.
    pub bytes: usize,
    /// Indices of the imported modules.
    pub imports: Vec<usize>,
    /// Content, for known kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// Content of an embedded module.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Device(Device),
    Executable(Executable),
    /// The payload is malformed: the reason.
    Malformed(String),
}

/// A module of kernels for a device.
#[derive(Serialize)]
pub struct Device {
    /// Format of the code, such as `ptx`; empty for kinds that have one format.
    pub format: String,
    /// Size of the code of all kernels.
    pub code_bytes: usize,
    pub kernels: Vec<Kernel>,
}

/// A kernel with its launch parameters.
#[derive(Serialize)]
pub struct Kernel {
    pub name: String,
    /// Types of the parameters.
    pub parameters: Vec<String>,
    /// Launch parameters, in the order of the launch arguments. These follow the arguments of the
    /// kernel.
    pub launch: Vec<String>,
    /// Size of the kernel's own code; 0 for kinds whose kernels share their code.
    pub code_bytes: usize,
}

/// An executable of Relax.
#[derive(Serialize)]
pub struct Executable {
    pub functions: Vec<RelaxFunction>,
    pub constants: usize,
    pub constant_bytes: usize,
    pub instructions: usize,
    /// Functions that the executable looks up by name.
    pub calls: Vec<String>,
}

/// A function of an executable.
#[derive(Serialize)]
pub struct RelaxFunction {
    pub name: String,
    /// `bytecode` or `compiled`.
    pub kind: &'static str,
    pub parameters: Vec<String>,
    pub registers: usize,
    pub instructions: usize,
}

/// Symbols that a library needs from `libtvm_ffi`.
#[derive(Serialize)]
pub struct Needs {
    pub symbols: Vec<NeededSymbol>,
    /// First upstream release with all symbols; `None` if there is none.
    pub since: Option<String>,
    /// Last upstream release with all symbols; `None` if the newest has them.
    pub until: Option<String>,
    /// Symbols that no build of Ferrite has.
    pub missing_from_ferrite: Vec<String>,
    /// Ferrite features that provide the remaining symbols.
    pub features: Vec<&'static str>,
    /// Symbols that no release of upstream's `libtvm_ffi` has.
    pub missing_from_upstream: Vec<String>,
    /// Number of needed symbols that belong to other libraries.
    pub others: usize,
}

/// A needed symbol.
#[derive(Serialize)]
pub struct NeededSymbol {
    pub name: String,
    /// C++ name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// First upstream release with the symbol.
    pub since: Option<&'static str>,
    /// Last upstream release with the symbol; `None` if the newest has it.
    pub until: Option<&'static str>,
    /// Ferrite feature with the symbol; `c` if every build has it.
    pub ferrite: Option<&'static str>,
}

//! Libraries that are a `libtvm_ffi` themselves: their origin, release and features.
#![forbid(unsafe_code)]

use serde::Serialize;

use crate::symbols;

/// Description of a `libtvm_ffi`.
#[derive(Serialize)]
pub struct Provider {
    /// Origin: `ferrite` or `upstream`.
    pub origin: &'static str,
    /// Version that the library returns, with `--run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Newest upstream release whose C symbols the library has; `None` if no release is complete,
    /// as in builds for firmware.
    pub release: Option<&'static str>,
    /// Number of C symbols.
    pub c_symbols: usize,
    /// C symbols of the newest release that the library lacks.
    pub lacks: Vec<&'static str>,
    /// Number of C++ symbols.
    pub cxx_symbols: usize,
    /// Features of Ferrite.
    pub features: Vec<&'static str>,
}

/// Symbol that every `libtvm_ffi` has.
const CALL: &str = "TVMFFIFunctionCall";

/// Minimum number of C symbols of a `libtvm_ffi`.
const LEAST: usize = 8;

/// Features whose code opens a library, by the name of that library.
const DRIVERS: [(&str, &[u8]); 4] = [
    ("opencl", b"libOpenCL.so"),
    ("vulkan", b"libvulkan.so"),
    ("cuda", b"libcuda.so"),
    ("rocm", b"libamdhip64.so"),
];

/// Features whose symbols are not in the table of symbols.
const SYMBOLS: [(&str, &str); 2] =
    [("legacy", "TVMFuncCall"), ("microtvm", "TVMFuncRegistry_Lookup")];

/// Describes a library, given its content and a test for its symbols; `None` if it is not a
/// `libtvm_ffi`.
pub fn of(defines: &dyn Fn(&str) -> bool, bytes: &[u8]) -> Option<Provider> {
    let (has, lacks): (Vec<_>, Vec<_>) = symbols::in_every_build().partition(|name| defines(name));
    if !defines(CALL) || has.len() < LEAST {
        return None;
    }
    let is_ours = is_ferrite(bytes);
    Some(Provider {
        origin: if is_ours { "ferrite" } else { "upstream" },
        version: None,
        release: symbols::newest_release(defines),
        c_symbols: has.len(),
        lacks,
        cxx_symbols: symbols::cxx_symbols().filter(|name| defines(name)).count(),
        features: if is_ours { features(defines, bytes) } else { Vec::new() },
    })
}

/// Returns `true` for the bytes of a library that was built from this project: messages and symbols
/// name its crates.
pub fn is_ferrite(bytes: &[u8]) -> bool {
    contains(bytes, b"ferrite")
}

fn features(defines: &dyn Fn(&str) -> bool, bytes: &[u8]) -> Vec<&'static str> {
    let of_table = symbols::features().filter(|(_, names)| names.iter().all(|name| defines(name)));
    let mut found: Vec<_> = of_table.map(|(feature, _)| feature).collect();
    found.extend(SYMBOLS.iter().filter(|(_, symbol)| defines(symbol)).map(|(feature, _)| *feature));
    found.extend(
        DRIVERS.iter().filter(|(_, file)| contains(bytes, file)).map(|(feature, _)| *feature),
    );
    found
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

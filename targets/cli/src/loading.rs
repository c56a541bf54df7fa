//! Loading of libraries into this process, and advice for those that do not load.

use std::path::Path;

use ferrite::Module;

use crate::demangled::demangled;
use crate::failure::{Failure, Outcome};
use crate::inspect::needs;
use crate::inspect::report::Needs;
use crate::library::{self, LibraryFile};
use crate::linker;

/// Loads a library.
///
/// # Errors
/// [`Kind::Load`](crate::failure::Kind::Load) with the message of the dynamic linker, and advice if
/// a feature of this command is missing.
pub fn load(path: &Path) -> Outcome<Module> {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.into());
    let needs = needs_of(path);
    match Module::load(&absolute) {
        Ok(module) => match first_unresolved(path, needs.as_ref()) {
            Some(symbol) => {
                Err(refused(path, &format!("undefined symbol: {symbol}"), needs.as_ref()))
            }
            None => Ok(module),
        },
        Err(error) => Err(refused(
            path,
            reason(&String::from_utf8_lossy(error.message_bytes()), &absolute),
            needs.as_ref(),
        )),
    }
}

/// Returns the needs of a library from `libtvm_ffi`; `None` if the file cannot be read.
fn needs_of(path: &Path) -> Option<Needs> {
    let bytes = library::read(path).ok()?;
    Some(needs::of(&LibraryFile::parse(path, &bytes).ok()?.undefined()))
}

/// Returns a function of `libtvm_ffi` that is missing, although the library was loaded: the first
/// call of it would end the process.
fn first_unresolved(path: &Path, needs: Option<&Needs>) -> Option<String> {
    let names: Vec<_> = needs?.symbols.iter().map(|symbol| symbol.name.clone()).collect();
    linker::unresolved(path, &names).first().map(ToString::to_string)
}

/// Returns the failure for a library that does not load.
fn refused(path: &Path, reason: &str, needs: Option<&Needs>) -> Failure {
    let advice = advice_for_devices(reason).or_else(|| advice(needs?));
    let advice = advice.map_or(String::new(), |advice| format!("\n{advice}"));
    Failure::load(format!("{} does not load: {}{advice}", path.display(), with_cxx_name(reason)))
}

/// Returns the part of a message that the dynamic linker wrote; the whole message if there is none.
fn reason<'a>(message: &'a str, path: &Path) -> &'a str {
    let opening = format!("Failed to load dynamic shared library {} ", path.display());
    message.split_once(&opening).map_or(message, |(_, reason)| reason).trim_end()
}

/// Appends the C++ name of the symbol that ends the message, if there is one.
fn with_cxx_name(reason: &str) -> String {
    let symbol = reason.rsplit_once("undefined symbol: ").map(|(_, symbol)| symbol.trim());
    match symbol.and_then(demangled) {
        Some(name) => format!("{reason} ({name})"),
        None => reason.into(),
    }
}

/// Returns advice for a library with modules of a kind that this build cannot load; `None` for
/// other messages.
fn advice_for_devices(message: &str) -> Option<String> {
    let kind = message.split_once("ffi.Module.load_from_bytes.")?.1.trim();
    let is_of_devices = ["opencl", "vulkan", "cuda", "hip", "hsaco"].contains(&kind);
    let missing = is_of_devices && !cfg!(feature = "devices");
    missing
        .then(|| "It has kernels for devices: build this command with `--features devices`".into())
}

/// Features of this build that have symbols of `libtvm_ffi`.
const FEATURES: [&str; 3] =
    ["backend", "relax", if cfg!(feature = "cxx-abi") { "cxx-abi" } else { "" }];

/// Returns advice for a library with these needs; `None` if this command provides all of them.
fn advice(needs: &Needs) -> Option<String> {
    let lacking: Vec<_> =
        needs.features.iter().filter(|feature| !FEATURES.contains(feature)).collect();
    if needs.missing_from_ferrite.is_empty() && lacking.is_empty() {
        return None;
    }
    if let [first, ..] = needs.missing_from_ferrite.as_slice() {
        let name = demangled(first).unwrap_or_else(|| first.clone());
        return Some(format!("It needs a symbol that no build of Ferrite has: {name}"));
    }
    if lacking == [&"cxx-abi"] {
        return Some(CXX.into());
    }
    let names: Vec<_> = lacking.iter().map(ToString::to_string).collect();
    Some(format!("It needs a libtvm_ffi with the features {}", names.join(", ")))
}

/// Advice for C++ libraries.
const CXX: &str = "\
It is a C++ library, and needs the C++ functions of libtvm_ffi, which this command was built without. Build it with a C++ compiler:
  cargo install --path targets/cli --features cxx-abi    (in a clone; `make command` and the wheel have the feature)
Programs that load the library need a libtvm_ffi with that feature, too, which `make` and targets/host/build.sh build.";

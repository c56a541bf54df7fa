//! `ferrite doctor`: the libraries named `libtvm_ffi` that a process would load, in their order,
//! and the tools that are installed.

use std::collections::HashSet;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::inspect::provider::is_ferrite;
use crate::library::LibraryFile;
use crate::output;
use crate::symbols;

/// Findings of the command.
#[derive(Serialize)]
struct Report {
    ferrite: &'static str,
    libraries: Vec<Library>,
    tools: Vec<Tool>,
}

/// A library named `libtvm_ffi` that a process may load.
#[derive(Serialize)]
struct Library {
    path: PathBuf,
    /// Description of the location.
    place: &'static str,
    /// Origin: `ferrite` or `upstream`.
    origin: Option<&'static str>,
    /// Reason why a process cannot use the library.
    problem: Option<String>,
}

/// A program that some tasks need, such as a C compiler.
#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: Option<String>,
    needed_for: &'static str,
}

const TOOLS: [(&str, &str); 4] = [
    ("cc", "kernels in C, and the programs of `ferrite model`"),
    ("cargo", "building from source"),
    ("python3", "the wheel, and `ferrite model`"),
    ("cmake", "C and C++ projects on the CMake package"),
];

/// Script that prints the libraries of the Python packages.
const PACKAGES: &str = "\
import importlib.util, pathlib
for name in ('ferrite_tvm_ffi', 'tvm_ffi'):
    spec = importlib.util.find_spec(name)
    if spec and spec.origin:
        folder = pathlib.Path(spec.origin).parent
        for base in (folder / 'lib', folder / (name + '.libs')):
            for file in base.glob('libtvm_ffi.*'):
                print(file)";

/// Runs the command.
///
/// # Errors
/// [`Kind::Negative`](crate::failure::Kind::Negative) if the first library that a process would
/// load does not fit.
pub fn run(json: bool) -> Outcome<()> {
    let tools = TOOLS.map(|(name, needed_for)| Tool { name, version: version(name), needed_for });
    let report =
        Report { ferrite: env!("CARGO_PKG_VERSION"), libraries: libraries(), tools: tools.into() };
    if json {
        output::print_json(&report)?
    } else {
        output::print_report(&text(&report))?
    }
    match report.libraries.first() {
        Some(Library { path, problem: Some(problem), .. }) => Err(Failure::negative(format!(
            "{} is the first that a process would load: {problem}",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Returns the libraries in the search order of the dynamic linker, then those of Python packages.
fn libraries() -> Vec<Library> {
    let name = format!("{DLL_PREFIX}tvm_ffi{DLL_SUFFIX}");
    let variable = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
    let folders =
        std::env::var_os(variable).map(|value| std::env::split_paths(&value).collect::<Vec<_>>());
    let mut files: Vec<_> =
        folders.unwrap_or_default().iter().map(|folder| (folder.join(&name), variable)).collect();
    files.extend(
        known_to_the_linker(&name).into_iter().map(|file| (file, "cache of the dynamic linker")),
    );
    for folder in ["/lib", "/usr/lib", "/usr/local/lib", "/lib64", "/usr/lib64"] {
        files.push((Path::new(folder).join(&name), "folder of the system"));
    }
    let python = output("python3", &["-c", PACKAGES]).unwrap_or_default();
    files.extend(python.lines().map(|line| (PathBuf::from(line), "Python package")));
    let mut seen = HashSet::new();
    let files = files.into_iter().filter(|(file, _)| file.is_file());
    let new =
        files.filter(|(file, _)| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    new.map(|(path, place)| examine(path, place)).collect()
}

/// Returns the files that the cache of `ldconfig` has under a name.
fn known_to_the_linker(name: &str) -> Vec<PathBuf> {
    let listing = output("ldconfig", &["-p"])
        .or_else(|| output("/sbin/ldconfig", &["-p"]))
        .unwrap_or_default();
    let lines = listing.lines().filter(|line| line.trim_start().starts_with(&format!("{name} ")));
    lines.filter_map(|line| Some(PathBuf::from(line.split_once(" => ")?.1))).collect()
}

fn examine(path: PathBuf, place: &'static str) -> Library {
    match read(&path) {
        Ok((origin, problem)) => Library { path, place, origin: Some(origin), problem },
        Err(failure) => Library { path, place, origin: None, problem: Some(failure.to_string()) },
    }
}

/// Returns the origin of a library, and the reason why a process cannot use it.
fn read(path: &Path) -> Outcome<(&'static str, Option<String>)> {
    let bytes = crate::library::read(path)?;
    let file = LibraryFile::parse(path, &bytes)?;
    let missing: Vec<_> = symbols::in_every_build().filter(|name| !file.defines(name)).collect();
    let problem = match missing.as_slice() {
        _ if !file.is_for_this_machine() => Some(format!("it is for {}", file.architecture())),
        [] => None,
        missing => Some(format!(
            "it lacks {} symbols of the newest release: {}",
            missing.len(),
            missing.join(", ")
        )),
    };
    Ok((if is_ferrite(&bytes) { "ferrite" } else { "upstream" }, problem))
}

fn version(tool: &str) -> Option<String> {
    output(tool, &["--version"])?.lines().next().map(String::from)
}

/// Returns what a program prints; `None` if it is missing or fails.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(report: &Report) -> String {
    let mut text = format!(
        "ferrite {}\n\nlibraries that a process would load, first to last: {}\n",
        report.ferrite,
        report.libraries.len()
    );
    for library in &report.libraries {
        let origin = library.origin.unwrap_or("unknown");
        let fits = library.problem.as_deref().unwrap_or("fits");
        text.push_str(&format!(
            "  {} ({origin}, {}): {fits}\n",
            library.path.display(),
            library.place
        ));
    }
    text.push_str("\ntools\n");
    for tool in &report.tools {
        let version = tool.version.as_deref().unwrap_or("missing");
        text.push_str(&format!("  {:<8} {version} (for {})\n", tool.name, tool.needed_for));
    }
    text
}

//! Reads functions and classes from a library or a Python package, in a child process.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::child::{self, End};
use crate::failure::{Failure, Outcome};
use crate::inspect::loaded::{self, Descriptions};

use super::api::Api;
use super::names::identifier;

/// Program that imports a package and prints what it registers.
const PACKAGE: &str = include_str!("package.py");

/// Status with which that program ends if a module is missing.
const MISSING: i32 = 4;

/// Time limit of the import of a package.
const LIMIT: Duration = Duration::from_secs(300);

/// Reads the functions and classes of the library or the package of that name.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a file that is not a library of this machine;
/// [`Kind::Missing`](crate::failure::Kind::Missing) for unknown packages; the error of loading or
/// importing it; [`Kind::Crash`](crate::failure::Kind::Crash) if that ends the child process.
pub fn read(source: &str) -> Outcome<Api> {
    if is_package(source) { of_package(source) } else { of_library(Path::new(source)) }
}

/// Returns `true` for names that a Python package may have, unless there is such a file.
fn is_package(source: &str) -> bool {
    let is_library = [".so", ".dylib", ".dll"].iter().any(|end| source.ends_with(end));
    !is_library
        && source.split('.').all(super::names::is_identifier)
        && !Path::new(source).is_file()
}

fn of_library(path: &Path) -> Outcome<Api> {
    let found = loaded::ask_child(path)?;
    let origin = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = origin.split('.').next().unwrap_or_default();
    let name = identifier(stem.strip_prefix("lib").filter(|rest| !rest.is_empty()).unwrap_or(stem));
    Ok(Api::new(origin, name, String::new(), found))
}

fn of_package(package: &str) -> Outcome<Api> {
    let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
    let mut command = Command::new(&python);
    command.args(["-c", PACKAGE, package]);
    let found: Descriptions = match child::run(command, LIMIT)? {
        End::Answer(found) => found,
        End::Error { status: MISSING, message } => return Err(Failure::missing(message)),
        End::Error { message, .. } => return Err(Failure::negative(message)),
        End::Crash(how) => {
            return Err(Failure::crash(format!(
                "importing {package} ended the child process: {how}"
            )));
        }
        End::Late => {
            let seconds = LIMIT.as_secs();
            return Err(Failure::negative(format!("{package} was not imported in {seconds} s")));
        }
    };
    let last = package.rsplit('.').next().unwrap_or(package);
    Ok(Api::new(package.into(), identifier(last), format!("{package}."), found))
}

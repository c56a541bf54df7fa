//! Archives of objects, `libtvm_ffi.a` for instance: one description for all members.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::Path;

use object::read::archive::ArchiveFile;

use crate::failure::{Failure, Outcome};
use crate::library::LibraryFile;

use super::report::Report;
use super::{file, needs, provider};

/// Describes an archive. Skips members that are not objects, such as an index of another tool.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for malformed archives, and for those without an
/// object.
pub fn describe(path: &Path, bytes: &[u8]) -> Outcome<Report> {
    let refuse = |why: &dyn std::fmt::Display| {
        Failure::input(format!("{} is not an archive, or is truncated: {why}", path.display()))
    };
    let archive = ArchiveFile::parse(bytes).map_err(|error| refuse(&error))?;
    let mut files = Vec::new();
    for member in archive.members() {
        let member = member.map_err(|error| refuse(&error))?;
        let data = member.data(bytes).map_err(|error| refuse(&error))?;
        files.extend(LibraryFile::parse(path, data).ok());
    }
    let reports = files.iter().map(|file| file::describe(path, file, 0));
    let whole = reports.reduce(|whole, next| Ok(merged(whole?, next?)));
    let mut report = whole.unwrap_or_else(|| Err(refuse(&"it has no object")))?;
    report.format.role = "archive";
    report.format.objects = Some(files.len());
    report.sizes.file = bytes.len() as u64;
    report.functions.sort_by(|one, other| one.name.cmp(&other.name));
    report.functions.dedup_by(|one, other| one.name == other.name);
    let defined: BTreeSet<&str> = files.iter().flat_map(LibraryFile::symbols).collect();
    let undefined: BTreeSet<String> = files.iter().flat_map(LibraryFile::undefined).collect();
    let undefined: Vec<_> =
        undefined.into_iter().filter(|name| !defined.contains(name.as_str())).collect();
    report.needs = needs::of(&undefined);
    report.provides = provider::of(&|name| defined.contains(name), bytes);
    Ok(report)
}

/// Adds the functions, slots, modules and sizes of an object to the report of the previous objects.
fn merged(mut whole: Report, next: Report) -> Report {
    whole.functions.extend(next.functions);
    whole.slots.extend(next.slots);
    whole.is_packed |= next.is_packed;
    whole.embedded = whole.embedded.or(next.embedded);
    whole.sizes.add(&next.sizes);
    whole
}

//! The modules that are embedded in a library, and their imports.

use ferrite::module::library_bin::ImportTree;

use crate::failure::{Failure, Outcome, describe as text_of};

use super::report::{Content, Embedded, ModuleReport};
use super::{device, relax};

/// Size of the length field in front of the stream.
const LENGTH_BYTES: usize = 8;

/// Describes an embedded binary, which begins with its length.
pub fn describe(binary: &[u8]) -> Outcome<Embedded> {
    let malformed =
        |why: String| Failure::input(format!("the embedded binary is malformed: {why}"));
    let Some((length, rest)) = binary.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(malformed(format!(
            "it has {} bytes, less than its length field",
            binary.len()
        )));
    };
    let length = u64::from_le_bytes(*length);
    let stream = usize::try_from(length).ok().and_then(|length| rest.get(..length));
    let Some(stream) = stream else {
        return Err(malformed(format!("its length is {length}, but {} bytes follow", rest.len())));
    };
    let tree = ImportTree::read(stream).map_err(|error| malformed(text_of(&error)))?;
    let modules = tree.entries().enumerate().map(|(index, entry)| {
        let payload = entry.payload.unwrap_or_default();
        ModuleReport {
            kind: String::from_utf8_lossy(entry.kind).into_owned(),
            bytes: payload.len(),
            imports: tree.imports_of(index).collect(),
            content: entry.payload.and_then(|payload| content(entry.kind, payload)),
        }
    });
    Ok(Embedded { bytes: LENGTH_BYTES + stream.len(), modules: modules.collect() })
}

/// Describes the payload of a module; `None` for kinds that are not known.
fn content(kind: &[u8], payload: &[u8]) -> Option<Content> {
    let described = match kind {
        b"relax.VMExecutable" | b"relax.Executable" => {
            relax::describe(payload).map(Content::Executable)
        }
        kind => device::describe(kind, payload)?.map(Content::Device),
    };
    Some(described.unwrap_or_else(|error| Content::Malformed(error.message().into())))
}

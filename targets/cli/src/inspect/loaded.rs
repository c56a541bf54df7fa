//! Signatures, documentation and registrations of a library, from a child process that loads it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::child::{self, End};
use crate::failure::{Failure, Kind, Outcome};
use crate::library::{self, LibraryFile};
use crate::linker;
use crate::loading;
use crate::registered::{Registered, TypeReport, describe_type, global_metadata};
use crate::signature::Signature;

use super::provider;
use super::report::Report;

/// Descriptions that a loaded library reports.
#[derive(Default, Deserialize, Serialize)]
pub struct Descriptions {
    /// Documentation and metadata, by function.
    pub functions: BTreeMap<String, FunctionDocs>,
    /// Metadata of the global functions that the library registers, by name.
    pub global_functions: BTreeMap<String, Option<String>>,
    /// Types that the library registers.
    pub types: Vec<TypeReport>,
    /// Symbols that no library of the process defines, and that are looked up on first use.
    #[serde(default)]
    pub unresolved: Vec<String>,
    /// Version, if the library is a `libtvm_ffi`.
    #[serde(default)]
    pub version: Option<String>,
}

/// Documentation and metadata of a function.
#[derive(Default, Deserialize, Serialize)]
pub struct FunctionDocs {
    /// Documentation.
    pub doc: Option<String>,
    /// Metadata, JSON.
    pub metadata: Option<String>,
}

/// Adds the descriptions that a child process reads from the loaded library.
///
/// # Errors
/// [`Kind::Crash`](crate::failure::Kind::Crash) if the child ends by a signal; its own error
/// otherwise.
pub fn add_descriptions(path: &Path, report: &mut Report) -> Outcome<()> {
    let found = ask_child(path)?;
    for function in &mut report.functions {
        let Some(texts) = found.functions.get(&function.name) else { continue };
        function.doc.clone_from(&texts.doc);
        function.signature = texts.metadata.as_deref().and_then(Signature::of_metadata);
        function.metadata =
            texts.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
    }
    report.global_functions = Some(found.global_functions.into_keys().collect());
    report.types = Some(found.types);
    if let Some(provider) = &mut report.provides {
        provider.version = found.version;
    }
    Ok(())
}

/// Time limit for a library to load and to be described.
const LIMIT: Duration = Duration::from_secs(120);

/// Loads a library in a child process, and returns its descriptions.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a file that is not a shared library of this
/// machine; [`Kind::Crash`](crate::failure::Kind::Crash) if the child ends by a signal; its own
/// error otherwise.
pub fn ask_child(path: &Path) -> Outcome<Descriptions> {
    library::require_loadable(path)?;
    match child::ask(&["inspect", "--in-process"], path, LIMIT)? {
        End::Answer(found) => Ok(found),
        End::Error { status, message } => Err(Failure::new(Kind::of_status(status), message)),
        End::Crash(how) => Err(Failure::crash(format!(
            "loading {} ended the child process: {how}",
            path.display()
        ))),
        End::Late => Err(Failure::negative(format!(
            "{} was not loaded in {} s",
            path.display(),
            LIMIT.as_secs()
        ))),
    }
}

/// Loads the library and prints its descriptions in one line of JSON.
pub fn describe_in_process(path: &Path) -> Outcome<()> {
    let bytes = library::read(path)?;
    let file = LibraryFile::parse(path, &bytes)?;
    let names = file.functions();
    if provider::of(&|name| file.defines(name), &bytes).is_some() {
        // A second libtvm_ffi would register its names in tables of its own.
        let found = Descriptions { version: linker::version_of(path), ..Descriptions::default() };
        return child::print_answer(&found);
    }
    let before = Registered::now()?;
    let module = loading::load(path)?;
    let after = Registered::now()?;
    let globals = after.functions.difference(&before.functions);
    let undefined = file.undefined();
    let unresolved = linker::unresolved(path, &undefined);
    let mut found = Descriptions {
        unresolved: unresolved.into_iter().map(String::from).collect(),
        global_functions: globals
            .map(|name| Ok((name.clone(), global_metadata(name)?)))
            .collect::<Outcome<_>>()?,
        types: after.types.difference(&before.types).filter_map(|key| describe_type(key)).collect(),
        ..Descriptions::default()
    };
    for name in names {
        let key = ferrite::String::new(&name)?;
        let text = |text: Option<ferrite::String>| {
            text.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned())
        };
        let texts = FunctionDocs {
            doc: text(module.function_doc(&key, true)?),
            metadata: text(module.function_metadata(&key, true)?),
        };
        found.functions.insert(name, texts);
    }
    child::print_answer(&found)
}

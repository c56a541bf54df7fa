//! Signatures, documentation and registrations of a library, from a child process that loads it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use ferrite::Module;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Outcome};
use crate::library::{self, LibraryFile};
use crate::registered::{Registered, TypeReport, describe_type};
use crate::signature::Signature;

use super::report::Report;

/// Answer of the child process.
#[derive(Default, Deserialize, Serialize)]
struct Descriptions {
    /// Documentation and metadata, by function.
    functions: BTreeMap<String, Texts>,
    global_functions: Vec<String>,
    types: Vec<TypeReport>,
}

#[derive(Default, Deserialize, Serialize)]
struct Texts {
    doc: Option<String>,
    metadata: Option<String>,
}

/// Adds what a child process finds out about the library.
///
/// # Errors
/// [`Kind::Crash`](crate::failure::Kind::Crash) if the child ends by a signal; its own error otherwise.
pub fn add_descriptions(path: &Path, report: &mut Report) -> Outcome<()> {
    let found = ask_child(path)?;
    for function in &mut report.functions {
        let Some(texts) = found.functions.get(&function.name) else { continue };
        function.doc.clone_from(&texts.doc);
        function.signature = texts.metadata.as_deref().and_then(Signature::of_metadata);
        function.metadata = texts.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
    }
    report.global_functions = Some(found.global_functions);
    report.types = Some(found.types);
    Ok(())
}

fn ask_child(path: &Path) -> Outcome<Descriptions> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::missing(format!("cannot find this program: {error}")))?;
    let mut command = Command::new(program);
    command.args(["inspect", "--in-process"]).arg(path).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| Failure::missing(format!("cannot start a child process: {error}")))?;
    let message = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        // The library itself may have printed lines before.
        Some(0) => {
            let printed = String::from_utf8_lossy(&output.stdout);
            let last = printed.lines().last().unwrap_or_default();
            serde_json::from_str(last)
                .map_err(|error| Failure::negative(format!("the child process gave no description: {error}")))
        }
        Some(_) => Err(Failure::negative(message.trim_start_matches("error: "))),
        None => Err(Failure::crash(format!(
            "loading {} ended the child process: {}\n{message}",
            path.display(),
            output.status
        ))),
    }
}

/// Loads the library and prints its descriptions in one line of JSON.
pub fn describe_in_process(path: &Path) -> Outcome<()> {
    let bytes = library::read(path)?;
    let names = LibraryFile::parse(path, &bytes)?.functions();
    let before = Registered::now()?;
    let module = Module::load(path.canonicalize().unwrap_or_else(|_| path.into()))?;
    let after = Registered::now()?;
    let mut found = Descriptions {
        global_functions: after.functions.difference(&before.functions).cloned().collect(),
        types: after.types.difference(&before.types).filter_map(|key| describe_type(key)).collect(),
        ..Descriptions::default()
    };
    for name in names {
        let key = ferrite::String::new(&name)?;
        let text = |text: Option<ferrite::String>| {
            text.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned())
        };
        let texts = Texts {
            doc: text(module.function_doc(&key, true)?),
            metadata: text(module.function_metadata(&key, true)?),
        };
        found.functions.insert(name, texts);
    }
    let line = serde_json::to_string(&found).map_err(Failure::negative)?;
    crate::print(&format!("\n{line}\n"))
}

//! Checks that read the file without loading it.

use crate::inspect::embedded;
use crate::library::LibraryFile;
use crate::symbols;

use super::finding::Finding;

const CONTEXT: &str = "__tvm_ffi__library_ctx";
const LIBRARY_BIN: &str = "__tvm_ffi__library_bin";
const LOOKUP: [&str; 2] = ["TVMFFIEnvModLookupFromImports", "__TVMFFIEnvModLookupFromImports"];
const TEXTS: [(&str, &str); 2] =
    [("__tvm_ffi__doc_", "documentation"), ("__tvm_ffi__metadata_", "metadata")];

/// Returns the findings.
pub fn check(file: &LibraryFile<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    check_functions(file, &mut found);
    check_context(file, &mut found);
    check_embedded(file, &mut found);
    check_needs(file, &mut found);
    found
}

/// Returns `true` if loading the library ends the process.
pub fn prevents_loading(finding: &Finding) -> bool {
    finding.symbol.as_deref() == Some(CONTEXT) && finding.rule != "missing-context"
}

fn check_functions(file: &LibraryFile<'_>, found: &mut Vec<Finding>) {
    for name in file.functions() {
        if file.is_data(&format!("__tvm_ffi_{name}")) {
            found.push(Finding::new(
                "symbol-type",
                &name,
                "the symbol of a function is data: a loader would call it",
            ));
        }
    }
    for symbol in file.symbols() {
        let text =
            TEXTS.iter().find_map(|(prefix, what)| Some((symbol.strip_prefix(prefix)?, what)));
        let Some((function, what)) = text else { continue };
        if file.is_data(symbol) {
            found.push(Finding::new(
                "symbol-type",
                symbol,
                format!("the {what} is data, but must be a function that returns a String"),
            ));
        }
        if !file.defines(&format!("__tvm_ffi_{function}")) {
            found.push(Finding::new(
                "orphan-text",
                symbol,
                format!("{what} of a function that the library does not have"),
            ));
        }
    }
}

fn check_context(file: &LibraryFile<'_>, found: &mut Vec<Finding>) {
    if file.defines(CONTEXT) {
        if !file.is_data(CONTEXT) {
            found.push(Finding::new(
                "symbol-type",
                CONTEXT,
                "the context is a function, but must be a pointer",
            ));
        } else if !file.is_writable(CONTEXT) {
            found.push(Finding::new(
                "read-only-context",
                CONTEXT,
                "the loader writes to the context, which is in read-only memory",
            ));
        }
        return;
    }
    // A runtime passes the lookup on to others: only a function of the library itself needs a
    // context.
    if file.functions().is_empty() {
        return;
    }
    let undefined = file.undefined();
    if LOOKUP
        .iter()
        .any(|name| file.defines(name) || undefined.iter().any(|undefined| undefined == name))
    {
        found.push(Finding::new(
            "missing-context",
            CONTEXT,
            "the library looks up imports, but has no context to do it with",
        ));
    }
}

fn check_embedded(file: &LibraryFile<'_>, found: &mut Vec<Finding>) {
    let Some(binary) = file.data_of(LIBRARY_BIN) else { return };
    let embedded = match embedded::describe(binary) {
        Ok(embedded) => embedded,
        Err(failure) => {
            return found.push(Finding::new("embedded-binary", LIBRARY_BIN, failure.to_string()));
        }
    };
    for (kind, why) in embedded.malformed() {
        found.push(Finding::new("embedded-binary", LIBRARY_BIN, format!("module {kind}: {why}")));
    }
}

fn check_needs(file: &LibraryFile<'_>, found: &mut Vec<Finding>) {
    let is_c = |name: &&String| name.starts_with("TVMFFI");
    for name in file.undefined().iter().filter(is_c).filter(|name| symbols::find(name).is_none()) {
        found.push(Finding::new(
            "unknown-symbol",
            name,
            "no release of libtvm_ffi has this symbol",
        ));
    }
}

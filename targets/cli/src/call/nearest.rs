//! Suggestions for misspelt names of functions.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::failure::Outcome;
use crate::inspect;
use crate::inspect::report::Content;

/// Returns the function of a library whose name is nearest to `wanted`; `None` if no name is near.
///
/// # Errors
/// Errors of reading the file.
pub fn function(library: &Path, wanted: &str) -> Outcome<Option<String>> {
    let report = inspect::describe(library)?;
    let exported = report.functions.into_iter().map(|function| function.name);
    let modules = report.embedded.into_iter().flat_map(|embedded| embedded.modules);
    let of_models = modules.filter_map(|module| match module.content {
        Some(Content::Executable(executable)) => Some(executable.functions),
        _ => None,
    });
    let names = exported.chain(of_models.flatten().map(|function| function.name));
    Ok(nearest(wanted, names))
}

/// Returns the name that needs the fewest letters changed, at most a third of them.
fn nearest(wanted: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let most = (wanted.chars().count() / 3).max(1);
    let lowercase = wanted.to_lowercase();
    let distances =
        names.map(|name| (strsim::damerau_levenshtein(&lowercase, &name.to_lowercase()), name));
    distances.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_few_other_letters_is_near() {
        let near = |wanted: &str| {
            nearest(wanted, ["add_one", "dot", "vm_main"].map(String::from).into_iter())
        };
        for (wanted, name) in [
            ("dott", Some("dot")),
            ("dto", Some("dot")),
            ("Add_One", Some("add_one")),
            ("addone", Some("add_one")),
            ("main", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(near(wanted).as_deref(), name, "{wanted}");
        }
    }
}

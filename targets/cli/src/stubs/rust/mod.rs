//! Rust modules: a struct with the exported functions, and functions and classes in modules named
//! after the parts of their names.
//!
//! | file | does |
//! |---|---|
//! | `tree` | functions and classes by the parts of their names |
//! | `types` | Rust types for the types of the ABI |
//! | `members` | functions, methods and fields |
//! | `helpers.txt` | helper functions of every module, which look up functions |

mod members;
mod tree;
mod types;

use super::api::{Api, Callable};
use super::names::Names;
use super::quote::{code, rust_literal};

use members::{Receiver, class, function};
use tree::{Scope, Tree};
use types::Types;

/// Helper functions of every module, which look up functions.
const HELPERS: &str = include_str!("helpers.txt");

/// Renders the Rust module as source text.
pub fn render_module(api: &Api) -> String {
    let tree = Tree::new(api);
    let mut out = format!(
        "//! Functions and classes of {}. Made by `ferrite stubs --rust`, for `ferrite-ffi` and `ferrite-ffi-sys`.\n\
         #![allow(dead_code, non_camel_case_types, non_snake_case, clippy::all)]\n",
        origin(api)
    );
    if !api.exported.is_empty() {
        put(&mut out, 0, &library(api, &mut Types { tree: &tree, depth: 0 }));
    }
    write_scope(&mut out, &tree.top, &tree, 0);
    out + "\n" + HELPERS
}

/// Returns the struct with the exported functions.
fn library(api: &Api, types: &mut Types<'_>) -> String {
    let mut names = Names::with(&["load"]);
    let functions: Vec<(String, &Callable)> =
        api.exported.iter().map(|one| (tree::name(&one.name, &mut names), one)).collect();
    let fields: String =
        functions.iter().map(|(name, _)| format!("    {name}: ::ferrite::Function,\n")).collect();
    let found: String = functions
        .iter()
        .map(|(name, one)| {
            format!("            {name}: library.get({})?,\n", rust_literal(&one.name))
        })
        .collect();
    let calls: String = functions
        .iter()
        .map(|(name, one)| format!("\n{}", function(name, one, Receiver::Library, types)))
        .collect();
    let origin = origin(api);
    format!(
        "\n/// Exported functions of {origin}. The library stays loaded.\npub struct Library {{\n{fields}}}\n\n\
         impl Library {{\n    /// Loads the library, and finds its functions.\n    ///\n    /// # Errors\n    \
         /// The error of loading it; AttributeError if it lacks a function.\n    \
         pub fn load(file: &str) -> ::ferrite::Result<Library> {{\n        \
         let library = ::ferrite::Module::load(file)?;\n        Ok(Library {{\n{found}        }})\n    }}\n{}}}\n",
        members::indented(&calls)
    )
}

fn write_scope(out: &mut String, scope: &Scope<'_>, tree: &Tree<'_>, depth: usize) {
    let mut types = Types { tree, depth };
    for (name, one) in &scope.functions {
        put(out, depth, &format!("\n{}", function(name, one, Receiver::Global, &mut types)));
    }
    for (name, one) in &scope.classes {
        put(out, depth, &format!("\n{}", class(name, one, &mut types)));
    }
    for child in &scope.children {
        let prefix = code(&child.prefix);
        put(
            out,
            depth,
            &format!("\n/// Global names that begin with `{prefix}`.\npub mod {} {{", child.name),
        );
        write_scope(out, child, tree, depth + 1);
        put(out, depth, "}");
    }
}

/// Adds lines at a depth of nested blocks.
fn put(out: &mut String, depth: usize, lines: &str) {
    for line in lines.lines() {
        if !line.is_empty() {
            out.push_str(&"    ".repeat(depth));
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Returns the file or the package, escaped for a line of documentation.
fn origin(api: &Api) -> String {
    code(&api.origin).replace('<', "&lt;")
}

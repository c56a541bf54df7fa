//! Stubs for type checkers of Python.
//!
//! | file | does |
//! |---|---|
//! | `tree` | functions and classes by the parts of their names |
//! | `imports` | imports, under names that definitions of the stub do not hide |
//! | `types` | type annotations for the types of the ABI |
//! | `members` | functions, methods and fields |

mod imports;
mod members;
mod tree;
mod types;

use super::api::Api;
use super::quote::python_escaped;
use crate::visible::line;

use imports::Imports;
use members::{class, function};
use tree::{Scope, Tree};
use types::Types;

/// Renders the Python stub as source text.
pub fn render_stub(api: &Api) -> String {
    let tree = Tree::new(api);
    let mut types = Types { imports: Imports::new(&tree), tree: &tree };
    let mut body = String::new();
    write_scope(&mut body, &tree.top, 0, &mut types);
    let hidden: String = tree.hidden().map(|name| format!("\n_{name} = {name}\n")).collect();
    let head = format!(
        "\"\"\"Functions and classes of {}. Made by `ferrite stubs --python`.\"\"\"\n",
        python_escaped(&line(&api.origin))
    );
    let imports = types.imports.text();
    let gap = if imports.is_empty() { "" } else { "\n" };
    format!("{head}{gap}{imports}{body}{hidden}")
}

fn write_scope(out: &mut String, scope: &Scope<'_>, depth: usize, types: &mut Types<'_>) {
    for child in &scope.children {
        let prefix = python_escaped(&line(&child.prefix));
        put(out, depth, &format!("\nclass {}:", child.name));
        put(out, depth + 1, &format!("\"\"\"Global names that begin with `{prefix}`.\"\"\""));
        write_scope(out, child, depth + 1, types);
    }
    for (name, one) in &scope.classes {
        put(out, depth, &format!("\n{}", class(name, one, types)));
    }
    for (name, one) in &scope.functions {
        put(out, depth, &format!("\n{}", function(name, one, depth > 0, types)));
    }
    for why in &scope.omitted {
        put(out, depth, &format!("\n# {}", line(why)));
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

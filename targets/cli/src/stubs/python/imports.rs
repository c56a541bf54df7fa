//! Imports of a stub, under names that its own definitions do not hide.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;

/// Names that a stub imports.
pub struct Imports {
    /// Names that the stub defines, in any scope.
    defined: BTreeSet<String>,
    /// Names that are imported, by module.
    names: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// Modules that are imported as a whole, with their local names.
    modules: BTreeMap<&'static str, String>,
}

impl Imports {
    /// Creates an empty list of imports.
    pub fn new(tree: &Tree<'_>) -> Imports {
        let defined =
            tree.defined.keys().cloned().chain(tree.hidden().map(|name| format!("_{name}")));
        Imports { defined: defined.collect(), names: BTreeMap::new(), modules: BTreeMap::new() }
    }

    /// Imports a name of a module, and returns the expression for it.
    pub fn get(&mut self, module: &'static str, name: &'static str) -> String {
        if !self.defined.contains(name) {
            if module != BUILTINS {
                self.names.entry(module).or_default().insert(name);
            }
            return name.to_string();
        }
        let alias = self.modules.entry(module).or_insert_with(|| {
            let mut alias = format!("_{}", module.replace('.', "_"));
            while self.defined.contains(&alias) {
                alias.insert(0, '_');
            }
            alias
        });
        format!("{alias}.{name}")
    }

    /// Returns the lines of all imports.
    pub fn text(&self) -> String {
        let modules =
            self.modules.iter().map(|(module, alias)| format!("import {module} as {alias}\n"));
        let names = self.names.iter().map(|(module, names)| {
            let names: Vec<_> = names.iter().copied().collect();
            format!("from {module} import {}\n", names.join(", "))
        });
        modules.chain(names).collect()
    }
}

/// Module whose names need no import.
pub const BUILTINS: &str = "builtins";

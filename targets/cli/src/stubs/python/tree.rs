//! Functions and classes by the parts of their names: a module has classes for the parts before the
//! last one.

use std::collections::BTreeMap;

use crate::stubs::api::{Api, Callable, Class};
use crate::stubs::names::{Names, identifier, is_identifier};
use crate::stubs::quote::rust_literal;

/// Reserved words of Python.
const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except finally for from \
    global if import in is lambda nonlocal not or pass raise return try while with yield __debug__";

/// Returns `true` for an identifier that is not a reserved word.
pub fn is_name(name: &str) -> bool {
    is_identifier(name) && !KEYWORDS.split_whitespace().any(|word| word == name)
}

/// All names of a stub.
pub struct Tree<'a> {
    /// The module.
    pub top: Scope<'a>,
    /// Qualified names of classes within the module, by type key.
    pub paths: BTreeMap<&'a str, String>,
    /// Classes by type key.
    pub classes: BTreeMap<&'a str, &'a Class>,
    /// Number of definitions of each name, in all scopes together.
    pub defined: BTreeMap<String, usize>,
}

/// Names of a module, or of a class that represents a part of a dotted name.
#[derive(Default)]
pub struct Scope<'a> {
    /// Name of the class; empty for the module.
    pub name: String,
    /// Prefix of the global names in the scope.
    pub prefix: String,
    /// Nested scopes.
    pub children: Vec<Scope<'a>>,
    /// Classes, with their names.
    pub classes: Vec<(String, &'a Class)>,
    /// Functions, with their names.
    pub functions: Vec<(String, &'a Callable)>,
    /// Functions that the stub omits, with the reason.
    pub omitted: Vec<String>,
}

/// A function or a class, and the rest of its dotted name.
struct Entry<'a> {
    parts: Vec<&'a str>,
    item: Item<'a>,
}

#[derive(Clone, Copy)]
enum Item<'a> {
    Function(&'a Callable),
    Class(&'a Class),
}

impl<'a> Tree<'a> {
    /// Sorts the names of a library or a package.
    pub fn new(api: &'a Api) -> Tree<'a> {
        // Names of exported functions have no parts: a module has them as they are.
        let exported = api
            .exported
            .iter()
            .map(|one| Entry { parts: vec![&one.name], item: Item::Function(one) });
        let globals = api
            .globals
            .iter()
            .map(|one| Entry { parts: api.path(&one.name), item: Item::Function(one) });
        let classes = api
            .classes
            .iter()
            .map(|one| Entry { parts: api.path(&one.key), item: Item::Class(one) });
        let mut tree = Tree {
            top: Scope::default(),
            paths: BTreeMap::new(),
            classes: api.classes.iter().map(|class| (class.key.as_str(), class)).collect(),
            defined: BTreeMap::new(),
        };
        let entries = exported.chain(globals).chain(classes).collect();
        tree.top = tree.scope(String::new(), &api.prefix, &[], entries);
        tree
    }

    /// Returns the top-level names that a nested definition hides.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        let tops = self.top.children.iter().map(|child| child.name.as_str());
        let tops = tops.chain(self.top.classes.iter().map(|(name, _)| name.as_str()));
        tops.filter(|name| self.is_hidden(name))
    }

    fn is_hidden(&self, name: &str) -> bool {
        self.defined.get(name).is_some_and(|count| *count > 1)
    }

    /// Returns the qualified name of a class, valid in any scope; `None` for a class that the stub
    /// does not declare.
    pub fn path(&self, key: &str) -> Option<String> {
        let path = self.paths.get(key)?;
        let top = path.split('.').next().unwrap_or_default();
        Some(if self.is_hidden(top) { format!("_{path}") } else { path.clone() })
    }

    /// Returns the parent of a class if the stub declares it.
    pub fn parent(&self, class: &Class) -> Option<&'a Class> {
        self.classes.get(class.parent.as_deref()?).copied()
    }

    /// Defines the names of a scope: functions first, since programs write the names of functions.
    fn scope(
        &mut self,
        name: String,
        prefix: &str,
        outer: &[String],
        entries: Vec<Entry<'a>>,
    ) -> Scope<'a> {
        let (last, nested): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.parts.len() == 1);
        let mut scope = Scope { name, prefix: prefix.into(), ..Scope::default() };
        let mut names = Names::default();
        for entry in &last {
            if let Item::Function(function) = entry.item {
                self.add_function(&mut scope, &mut names, function, entry.parts[0]);
            }
        }
        for entry in &last {
            if let Item::Class(class) = entry.item {
                self.add_class(&mut scope, &mut names, class, entry.parts[0], outer);
            }
        }
        let mut groups: BTreeMap<&str, Vec<Entry<'a>>> = BTreeMap::new();
        for Entry { parts, item } in nested {
            groups.entry(parts[0]).or_default().push(Entry { parts: parts[1..].to_vec(), item });
        }
        for (part, entries) in groups {
            let name = names.take(&writable(part));
            self.define(&name);
            let outer: Vec<_> = outer.iter().cloned().chain([name.clone()]).collect();
            let child = self.scope(name, &format!("{prefix}{part}."), &outer, entries);
            scope.children.push(child);
        }
        scope
    }

    fn add_function(
        &mut self,
        scope: &mut Scope<'a>,
        names: &mut Names,
        function: &'a Callable,
        name: &str,
    ) {
        let types = function.signature.as_ref().map_or("(...) -> Any".into(), ToString::to_string);
        if !is_name(name) {
            scope.omitted.push(format!(
                "Not a valid Python name; use getattr: {}: {types}",
                rust_literal(&function.name)
            ));
        } else if !names.claim(name) {
            scope.omitted.push(format!(
                "Another function has the name: {}: {types}",
                rust_literal(&function.name)
            ));
        } else {
            self.define(name);
            scope.functions.push((name.to_string(), function));
        }
    }

    fn add_class(
        &mut self,
        scope: &mut Scope<'a>,
        names: &mut Names,
        class: &'a Class,
        name: &str,
        outer: &[String],
    ) {
        let name = writable(name);
        let name = if names.claim(&name) { name } else { names.take(&format!("{name}Object")) };
        self.define(&name);
        let members = class.fields.iter().map(|field| &field.name);
        members
            .chain(class.methods.iter().map(|method| &method.name))
            .for_each(|name| self.define(name));
        let path: Vec<_> = outer.iter().cloned().chain([name.clone()]).collect();
        self.paths.insert(&class.key, path.join("."));
        scope.classes.push((name, class));
    }

    fn define(&mut self, name: &str) {
        *self.defined.entry(name.to_string()).or_default() += 1;
    }
}

/// Converts a name to an identifier that is not a reserved word.
fn writable(name: &str) -> String {
    let name = identifier(name);
    if is_name(&name) { name } else { format!("{name}_") }
}

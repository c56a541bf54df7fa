//! Functions and classes by the parts of their names.

use std::collections::BTreeMap;

use crate::stubs::api::{Api, Callable, Class};
use crate::stubs::names::{Names, identifier};

/// Reserved words of Rust that can be raw identifiers; those in [`NEVER`] cannot.
const KEYWORDS: &str = "abstract as async await become box break const continue do dyn else enum extern false final fn for gen if \
    impl in let loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe \
    unsized use virtual where while yield";
const NEVER: [&str; 5] = ["self", "Self", "super", "crate", "_"];

/// All names of a module.
pub struct Tree<'a> {
    /// The module itself.
    pub top: Scope<'a>,
    /// Paths of classes relative to the module, by type key.
    pub paths: BTreeMap<&'a str, String>,
    /// Classes by type key.
    pub classes: BTreeMap<&'a str, &'a Class>,
}

/// Names of a module.
#[derive(Default)]
pub struct Scope<'a> {
    /// Name of the module; empty for the outermost.
    pub name: String,
    /// Prefix of the global names in the module.
    pub prefix: String,
    /// Nested modules.
    pub children: Vec<Scope<'a>>,
    /// Classes, with their names.
    pub classes: Vec<(String, &'a Class)>,
    /// Functions, with their names.
    pub functions: Vec<(String, &'a Callable)>,
}

#[derive(Clone, Copy)]
enum Item<'a> {
    Function(&'a Callable),
    Class(&'a Class),
}

type Entry<'a> = (Vec<&'a str>, Item<'a>);

impl<'a> Tree<'a> {
    /// Sorts the global names of a library or a package.
    pub fn new(api: &'a Api) -> Tree<'a> {
        let globals = api.globals.iter().map(|one| (api.path(&one.name), Item::Function(one)));
        let classes = api.classes.iter().map(|one| (api.path(&one.key), Item::Class(one)));
        let mut tree = Tree {
            top: Scope::default(),
            paths: BTreeMap::new(),
            classes: api.classes.iter().map(|class| (class.key.as_str(), class)).collect(),
        };
        let mut names = Names::with(USED);
        names.claim("Library");
        names.claim("stub_helpers");
        tree.top = tree.scope(
            String::new(),
            "",
            &api.prefix,
            classes.chain(globals).collect(),
            &mut names,
        );
        tree
    }

    fn scope(
        &mut self,
        name: String,
        path: &str,
        prefix: &str,
        entries: Vec<Entry<'a>>,
        names: &mut Names,
    ) -> Scope<'a> {
        let mut scope = Scope { name, prefix: prefix.into(), ..Scope::default() };
        let mut groups: BTreeMap<&str, Vec<Entry<'a>>> = BTreeMap::new();
        for (parts, item) in entries {
            let [last] = parts[..] else {
                groups.entry(parts[0]).or_default().push((parts[1..].to_vec(), item));
                continue;
            };
            let name = self::name(last, names);
            match item {
                Item::Function(function) => scope.functions.push((name, function)),
                Item::Class(class) => {
                    self.paths.insert(&class.key, format!("{path}{name}"));
                    scope.classes.push((name, class));
                }
            }
        }
        for (part, entries) in groups {
            let name = self::name(part, names);
            let path = format!("{path}{name}::");
            let child = self.scope(
                name,
                &path,
                &format!("{prefix}{part}."),
                entries,
                &mut Names::with(USED),
            );
            scope.children.push(child);
        }
        scope
    }
}

/// Names that the generated code uses without a path: prelude names, and variables, which a class
/// of the same name would turn into patterns.
const USED: &[&str] = &[
    "Option", "From", "Ok", "bool", "i64", "f64", "str", "f", "object", "value", "args", "all",
    "library", "file", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7", "arg8",
    "arg9", "arg10", "arg11",
];

/// Reserves an identifier for a name; reserved words become raw identifiers or get a suffix.
pub fn name(wanted: &str, names: &mut Names) -> String {
    let name = names.take(&identifier(wanted));
    if NEVER.contains(&name.as_str()) {
        names.take(&format!("{name}_"))
    } else if KEYWORDS.split_whitespace().any(|word| word == name) {
        format!("r#{name}")
    } else {
        name
    }
}

//! The functions and classes to declare, without the target language.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::inspect::loaded::Descriptions;
use crate::registered::{MemberReport, TypeReport};
use crate::signature::{Signature, Type};

use super::quote::code;

/// Functions and classes of a library or a package.
#[derive(Serialize)]
pub struct Api {
    /// File name of the library, or name of the package.
    pub origin: String,
    /// Identifier of the library or package, such as `kernels` for `libkernels.so`.
    pub name: String,
    /// Prefix of the names that are declared at the top, such as `demo.` for the package `demo`;
    /// may be empty.
    pub prefix: String,
    /// Functions that the library exports.
    pub exported: Vec<Callable>,
    /// Global functions.
    pub globals: Vec<Callable>,
    /// Classes, parents first.
    pub classes: Vec<Class>,
}

/// A function or a method.
#[derive(Clone, Serialize)]
pub struct Callable {
    /// Name, with dots.
    pub name: String,
    /// Types; `None` if the library declares none.
    pub signature: Option<Signature>,
    /// Documentation.
    pub doc: Option<String>,
    /// Whether a method takes no object; `true` for functions.
    pub is_static: bool,
}

/// A class to declare.
#[derive(Clone, Serialize)]
pub struct Class {
    /// Type key.
    pub key: String,
    /// Type key of the parent.
    pub parent: Option<String>,
    /// Documentation.
    pub doc: Option<String>,
    /// Constructor among the methods.
    pub init: Option<Callable>,
    /// Whether Python has a constructor that takes the fields.
    pub has_derived_init: bool,
    /// Fields.
    pub fields: Vec<Field>,
    /// Methods.
    pub methods: Vec<Callable>,
}

/// A field to declare.
#[derive(Clone, Serialize)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Type.
    pub value: Type,
    /// Documentation.
    pub doc: Option<String>,
    /// Whether the field is writable.
    pub is_writable: bool,
}

/// Maximum depth of nested declarations: compilers refuse much deeper ones.
const DEEPEST: usize = 16;

/// Name under which constructors are registered.
pub const INIT: &str = "__ffi_init__";

impl Api {
    /// Creates the declarations from the descriptions of a library or package.
    pub fn new(origin: String, name: String, prefix: String, found: Descriptions) -> Api {
        let exported = found.functions.into_iter().map(|(name, texts)| Callable {
            name,
            signature: texts.metadata.as_deref().and_then(Signature::of_metadata),
            doc: texts.doc,
            is_static: true,
        });
        let globals = found.global_functions.into_iter().map(|(name, metadata)| Callable {
            name,
            signature: metadata.as_deref().and_then(Signature::of_metadata),
            doc: None,
            is_static: true,
        });
        Api {
            origin,
            name,
            prefix,
            exported: exported.collect(),
            globals: globals.collect(),
            classes: parents_first(found.types.into_iter().map(Class::new).collect()),
        }
    }

    /// Returns the parts of the name of a global function or class, without the common prefix.
    /// Parts beyond the maximum depth are not split.
    pub fn path<'a>(&self, name: &'a str) -> Vec<&'a str> {
        name.strip_prefix(&self.prefix).unwrap_or(name).splitn(DEEPEST, '.').collect()
    }
}

impl Class {
    fn new(report: TypeReport) -> Class {
        let mut methods: Vec<_> = report.methods.into_iter().map(Callable::method).collect();
        let init = methods
            .iter()
            .position(|method| method.name == INIT)
            .map(|index| methods.remove(index));
        // What remains with such names are hooks for copies, hashes and strings.
        methods.retain(|method| !method.name.starts_with("__"));
        let fields = report.fields.into_iter().map(|field| Field {
            is_writable: field.is_writable(),
            value: field.metadata.as_deref().and_then(Type::of_metadata).unwrap_or_else(Type::any),
            name: field.name,
            doc: field.doc,
        });
        Class {
            fields: fields.collect(),
            has_derived_init: report.has_derived_init && init.is_none(),
            key: report.key,
            parent: report.parent,
            doc: report.doc,
            init,
            methods,
        }
    }
}

impl Callable {
    fn method(report: MemberReport) -> Callable {
        let is_static = report.is_static();
        let signature = report.metadata.as_deref().and_then(Signature::of_metadata);
        // The schema lists the object that a method is called on.
        let signature = signature
            .map(|signature| if is_static { signature } else { signature.without_object() });
        Callable { name: report.name, signature, doc: report.doc, is_static }
    }

    /// Returns the types of the parameters; `None` if any number is accepted.
    pub fn parameters(&self) -> Option<&[Type]> {
        self.signature.as_ref()?.parameters.as_deref()
    }

    /// Returns the names of the parameters; empty if they are not known.
    pub fn names(&self) -> &[String] {
        self.signature.as_ref().map_or(&[], |signature| &signature.names)
    }

    /// Returns the type of the result.
    pub fn result(&self) -> Type {
        self.signature.as_ref().map_or_else(Type::any, |signature| signature.result.clone())
    }

    /// Returns the documentation of the function, followed by its types on separate lines.
    pub fn description(&self) -> String {
        let types = match &self.signature {
            Some(signature) => format!("`{}`", code(&format!("{}{signature}", self.name))),
            None => format!("`{}`, whose types are not known", code(&self.name)),
        };
        match &self.doc {
            Some(doc) => format!("{}\n\n{types}", doc.trim_end()),
            None => types,
        }
    }
}

/// Orders classes so that each follows its parent.
fn parents_first(classes: Vec<Class>) -> Vec<Class> {
    let mut waiting: BTreeMap<String, Class> =
        classes.into_iter().map(|class| (class.key.clone(), class)).collect();
    let mut ordered = Vec::new();
    while let Some(key) = next_of(&waiting) {
        ordered.extend(waiting.remove(&key));
    }
    ordered
}

/// Returns the next class to declare: one whose parent is not in `waiting`, or any if there is
/// none.
fn next_of(waiting: &BTreeMap<String, Class>) -> Option<String> {
    let is_ready =
        |class: &&Class| class.parent.as_ref().is_none_or(|parent| !waiting.contains_key(parent));
    waiting
        .values()
        .find(is_ready)
        .or_else(|| waiting.values().next())
        .map(|class| class.key.clone())
}

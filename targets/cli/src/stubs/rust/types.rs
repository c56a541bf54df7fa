//! Rust types for ABI types.

use crate::signature::Type;

use super::tree::Tree;

/// Translator from ABI types to Rust types.
pub struct Types<'a> {
    /// Classes of the module.
    pub tree: &'a Tree<'a>,
    /// Number of enclosing modules.
    pub depth: usize,
}

impl Types<'_> {
    /// Returns the path of a name in the outermost module, relative to the current one.
    pub fn path(&self, name: &str) -> String {
        let up = if self.depth == 0 { "self::".into() } else { "super::".repeat(self.depth) };
        format!("{up}{name}")
    }

    /// Returns the type of a parameter: borrowed, except for small values such as numbers.
    pub fn parameter(&self, wanted: &Type) -> String {
        match self.bare(wanted) {
            "str" | "String" | "const char*" | "std::string" => "&str".into(),
            "int" | "float" | "bool" | "None" | "dtype" | "DataType" | "Device" | "BigInt" => {
                self.owned(wanted)
            }
            "Optional" => match wanted.arguments.first() {
                // None has one form only.
                Some(inner)
                    if !matches!(self.bare(inner), "Optional" | "Any" | "Union" | "Variant") =>
                {
                    format!("Option<{}>", self.parameter(inner))
                }
                _ => "&::ferrite::Any".into(),
            },
            _ => format!("&{}", self.owned(wanted)),
        }
    }

    /// Returns the type of a value that the program owns.
    pub fn owned(&self, wanted: &Type) -> String {
        let name = match self.bare(wanted) {
            "int" | "BigInt" => "i64",
            "float" => "f64",
            "bool" => "bool",
            "None" => "()",
            "str" | "String" | "const char*" | "std::string" => "::ferrite::String",
            "bytes" | "Bytes" => "::ferrite::Bytes",
            "dtype" | "DataType" => "::ferrite::abi::DLDataType",
            "Device" => "::ferrite::abi::DLDevice",
            "Tensor" | "DLTensor*" => "::ferrite::Tensor",
            "Shape" => "::ferrite::Shape",
            "Function" | "Callable" => "::ferrite::Function",
            "Module" => "::ferrite::Module",
            "Object" => "::ferrite::ObjectRef",
            "Array" | "list" => return self.generic("Array", wanted, 1),
            "List" => return self.generic("List", wanted, 1),
            "Map" | "dict" => return self.generic("Map", wanted, 2),
            "Dict" => return self.generic("Dict", wanted, 2),
            "Optional" => match wanted.arguments.first() {
                Some(inner)
                    if self.bare(inner) != "Optional" && self.owned(inner) != "::ferrite::Any" =>
                {
                    return format!("Option<{}>", self.owned(inner));
                }
                _ => "::ferrite::Any",
            },
            _ => return self.class(&wanted.name),
        };
        name.into()
    }

    fn bare<'t>(&self, wanted: &'t Type) -> &'t str {
        wanted.name.strip_prefix("ffi.").unwrap_or(&wanted.name)
    }

    fn generic(&self, name: &str, wanted: &Type, count: usize) -> String {
        let any = Type::any();
        let elements =
            (0..count).map(|index| self.owned(wanted.arguments.get(index).unwrap_or(&any)));
        format!("::ferrite::{name}<{}>", elements.collect::<Vec<_>>().join(", "))
    }

    /// Returns a class of the module. Classes of other packages become `ObjectRef`, all other names
    /// `Any`.
    fn class(&self, key: &str) -> String {
        match self.tree.paths.get(key) {
            Some(path) => self.path(path),
            None if key.contains('.') && !key.starts_with("ffi.") => "::ferrite::ObjectRef".into(),
            None => "::ferrite::Any".into(),
        }
    }
}

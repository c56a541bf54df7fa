//! Python type annotations for ABI types.

use crate::signature::Type;

use super::imports::{BUILTINS, Imports};
use super::tree::Tree;

/// Translator from ABI types to Python type annotations.
pub struct Types<'a> {
    /// Names of other modules.
    pub imports: Imports,
    /// Classes of the stub.
    pub tree: &'a Tree<'a>,
}

/// Direction in which a value passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Argument of a function, which also accepts values that convert.
    In,
    /// Result of a function.
    Out,
}

const ABC: &str = "collections.abc";
const FFI: &str = "tvm_ffi";

impl Types<'_> {
    /// Returns the expression for a Python builtin.
    pub fn builtin(&mut self, name: &'static str) -> String {
        self.imports.get(BUILTINS, name)
    }

    /// Returns the type of any value.
    pub fn any(&mut self) -> String {
        self.imports.get("typing", "Any")
    }

    /// Returns the class of all objects.
    pub fn object(&mut self) -> String {
        self.imports.get(FFI, "Object")
    }

    /// Returns the Python annotation of a type.
    pub fn of(&mut self, wanted: &Type, way: Way) -> String {
        let arguments = wanted.arguments.as_slice();
        let name = wanted.name.strip_prefix("ffi.").unwrap_or(&wanted.name);
        match name {
            "int" | "BigInt" => self.builtin("int"),
            "float" => self.builtin("float"),
            "bool" => self.builtin("bool"),
            "str" | "String" | "SmallStr" | "const char*" | "std::string" => self.builtin("str"),
            "bytes" | "Bytes" | "SmallBytes" | "TVMFFIByteArray*" => self.builtin("bytes"),
            "None" => "None".into(),
            "Tensor" | "DLTensor*" => self.imports.get(FFI, "Tensor"),
            "Shape" => self.imports.get(FFI, "Shape"),
            "Device" => self.imports.get(FFI, "Device"),
            "DataType" | "dtype" => self.imports.get(FFI, "dtype"),
            "Module" => self.imports.get(FFI, "Module"),
            "Object" => self.object(),
            "Error" => self.builtin("BaseException"),
            "Function" | "Callable" => self.function(arguments),
            "Array" | "list" => self.generic(way, (ABC, "Sequence"), (FFI, "Array"), arguments, 1),
            "List" => self.generic(way, (ABC, "MutableSequence"), (FFI, "List"), arguments, 1),
            "Map" | "dict" => self.generic(way, (ABC, "Mapping"), (FFI, "Map"), arguments, 2),
            "Dict" => self.generic(way, (ABC, "MutableMapping"), (FFI, "Dict"), arguments, 2),
            "Tuple" | "tuple" => self.tuple(arguments, way),
            "Optional" => self.union(arguments, way, true),
            "Union" | "Variant" => self.union(arguments, way, false),
            "ObjectRValueRef" => self.of(arguments.first().unwrap_or(&Type::any()), way),
            _ => self.class(&wanted.name),
        }
    }

    /// Returns a class of the stub. Classes of other packages become `Object`, all other names
    /// `Any`.
    fn class(&mut self, key: &str) -> String {
        match self.tree.path(key) {
            Some(path) => path,
            None if key.contains('.') && !key.starts_with("ffi.") => self.object(),
            None => self.any(),
        }
    }

    fn generic(
        &mut self,
        way: Way,
        taken: (&'static str, &'static str),
        given: (&'static str, &'static str),
        arguments: &[Type],
        count: usize,
    ) -> String {
        let (module, name) = if way == Way::In { taken } else { given };
        let name = self.imports.get(module, name);
        let any = Type::any();
        let elements = (0..count).map(|index| self.of(arguments.get(index).unwrap_or(&any), way));
        let elements: Vec<_> = elements.collect();
        format!("{name}[{}]", elements.join(", "))
    }

    /// Returns the type of tuples. Functions return them as an Array.
    fn tuple(&mut self, arguments: &[Type], way: Way) -> String {
        if way == Way::Out {
            return format!("{}[{}]", self.imports.get(FFI, "Array"), self.any());
        }
        let elements: Vec<_> = match arguments {
            [] => vec![self.any(), "...".into()],
            some => some.iter().map(|element| self.of(element, way)).collect(),
        };
        format!("{}[{}]", self.builtin("tuple"), elements.join(", "))
    }

    fn union(&mut self, arguments: &[Type], way: Way, or_none: bool) -> String {
        let mut members: Vec<_> = arguments.iter().map(|member| self.of(member, way)).collect();
        if members.is_empty() {
            return self.any();
        }
        if or_none {
            members.push("None".into());
        }
        let mut seen = std::collections::BTreeSet::new();
        members.retain(|member| seen.insert(member.clone()));
        members.join(" | ")
    }

    /// Returns the type of functions: the first argument is the result.
    fn function(&mut self, arguments: &[Type]) -> String {
        let callable = self.imports.get(ABC, "Callable");
        match arguments.split_first() {
            Some((result, parameters)) => {
                let result = self.of(result, Way::In);
                let parameters: Vec<_> =
                    parameters.iter().map(|one| self.of(one, Way::Out)).collect();
                format!("{callable}[[{}], {result}]", parameters.join(", "))
            }
            None => format!("{callable}[..., {}]", self.any()),
        }
    }
}

//! Types of functions, from the metadata that libraries carry.

use serde_json::Value;

/// Parameter types and result type of a function.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Signature {
    /// Types of the parameters, as the ABI names them; `None` if any number is accepted.
    pub parameters: Option<Vec<Type>>,
    /// Names of the parameters; empty if the library does not declare them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Type of the result.
    pub result: Type,
    /// Parameters as the author of the library wrote them, such as
    /// `(x: Tensor([m, n], float32), by: float = 2)`.
    #[serde(skip)]
    pub text: Option<String>,
}

/// A type with its arguments, such as `Array<int>`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Type {
    /// Name, such as `int`, `ffi.Array` or `DLTensor*`.
    pub name: String,
    /// Type arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Type>,
}

impl Signature {
    /// Reads the metadata of a function; `None` if it declares no function type.
    pub fn of_metadata(metadata: &str) -> Option<Signature> {
        let mut signature = Signature::of_schema(&schema_of(metadata)?)?;
        let names = names_of(metadata).unwrap_or_default();
        if signature.parameters.as_ref().is_some_and(|parameters| parameters.len() == names.len()) {
            signature.names = names;
            signature.text = text_of(metadata);
        }
        Some(signature)
    }

    /// Reads a schema: `args` has the result first; `named_args` has lists of results and
    /// parameters.
    fn of_schema(schema: &Value) -> Option<Signature> {
        let name = schema.get("type")?.as_str()?;
        if !name.eq_ignore_ascii_case("ffi.Function") {
            return None;
        }
        if let Some(named) = schema.get("named_args") {
            let types =
                |key: &str| named.get(key).and_then(Value::as_array).map(|list| types(list));
            let result = types("return").and_then(|list| list.into_iter().next());
            let result = result.unwrap_or(Type::any());
            return Some(Signature::of_types(types("params"), result));
        }
        let mut all =
            types(schema.get("args").and_then(Value::as_array).map_or(&[], Vec::as_slice))
                .into_iter();
        match all.next() {
            Some(result) => Some(Signature::of_types(Some(all.collect()), result)),
            None => Some(Signature::of_types(None, Type::any())),
        }
    }

    fn of_types(parameters: Option<Vec<Type>>, result: Type) -> Signature {
        Signature { parameters, names: Vec::new(), result, text: None }
    }

    /// Removes the first parameter: the object that a method is called on.
    pub fn without_object(mut self) -> Signature {
        if let Some(parameters) =
            self.parameters.as_mut().filter(|parameters| !parameters.is_empty())
        {
            parameters.remove(0);
            self.names.drain(..self.names.len().min(1));
            self.text = None;
        }
        self
    }

    /// Returns the type of a parameter; `None` if it is not known.
    pub fn parameter(&self, index: usize) -> Option<&Type> {
        self.parameters.as_ref()?.get(index)
    }
}

/// Returns the type schema of metadata; `None` if it has none.
fn schema_of(metadata: &str) -> Option<Value> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    // The schema is JSON in a string.
    match metadata.get("type_schema")? {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}

/// Returns the parameters of the author's signature on one line.
fn text_of(metadata: &str) -> Option<String> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let text = metadata.get("signature")?.as_str()?;
    let from = text.find('(')?;
    Some(text[from..].split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the parameter names of the author's signature, such as `x` and `by` of `scale(x:
/// Tensor([m, n], float32), by: float)`.
fn names_of(metadata: &str) -> Option<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let (_, rest) = metadata.get("signature")?.as_str()?.split_once('(')?;
    let (mut depth, mut names, mut begin) = (0_u32, Vec::new(), 0);
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' | '[' | '<' => depth += 1,
            ')' | ',' if depth == 0 => {
                names
                    .push(rest[begin..at].split(':').next().unwrap_or_default().trim().to_string());
                begin = at + 1;
            }
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Some(names)
}

fn types(list: &[Value]) -> Vec<Type> {
    list.iter().map(Type::of_schema).collect()
}

/// Maximum depth of type arguments. Deeper ones are read as `Any`.
const DEEPEST: usize = 16;

impl Type {
    /// Returns the type of any value.
    pub fn any() -> Type {
        Type { name: "Any".into(), arguments: Vec::new() }
    }

    /// Reads the metadata of a field; `None` if it has no type.
    pub fn of_metadata(metadata: &str) -> Option<Type> {
        Some(Type::of_schema(&schema_of(metadata)?))
    }

    fn of_schema(schema: &Value) -> Type {
        Type::within(schema, DEEPEST)
    }

    fn within(schema: &Value, depth: usize) -> Type {
        let (Some(name), Some(depth)) =
            (schema.get("type").and_then(Value::as_str), depth.checked_sub(1))
        else {
            return Type::any();
        };
        let arguments = schema.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let arguments = arguments.iter().map(|argument| Type::within(argument, depth)).collect();
        Type { name: name.into(), arguments }
    }
}

/// Writes the signature as error messages show it: `(x: Tensor([n], float32), by: float) -> float`
/// if the author's text is known, and `(0: int, 1: Array<int>) -> float` from types alone.
impl std::fmt::Display for Signature {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(text) = &self.text {
            out.write_str(text)?;
            return if text.contains("->") { Ok(()) } else { write!(out, " -> {}", self.result) };
        }
        let Some(parameters) = &self.parameters else {
            return write!(out, "(...) -> {}", self.result);
        };
        out.write_str("(")?;
        for (index, parameter) in parameters.iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            match self.names.get(index) {
                Some(name) => write!(out, "{before}{name}: {parameter}")?,
                None => write!(out, "{before}{index}: {parameter}")?,
            }
        }
        write!(out, ") -> {}", self.result)
    }
}

/// Writes the name as error messages show it: `int`, `ffi.Tensor`, `Array<int>`.
impl std::fmt::Display for Type {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some((last, others)) =
            self.arguments.split_last().filter(|_| self.name != "ffi.Function")
        else {
            return out.write_str(&self.name);
        };
        let name = self.name.strip_prefix("ffi.").unwrap_or(&self.name);
        write!(out, "{}<", if name == "Union" { "Variant" } else { name })?;
        others.iter().try_for_each(|other| write!(out, "{other}, "))?;
        write!(out, "{last}>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(metadata: &str) -> Option<String> {
        Signature::of_metadata(metadata).map(|signature| signature.to_string())
    }

    #[test]
    fn both_forms_of_schemas_are_read() {
        let positional = r#"{"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"float\"},{\"type\":\"int\"},{\"type\":\"ffi.Array\",\"args\":[{\"type\":\"int\"}]}]}"}"#;
        assert_eq!(text(positional).as_deref(), Some("(0: int, 1: Array<int>) -> float"));
        let named = r#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"None\"}],\"params\":[{\"type\":\"DLTensor*\"}]}}"}"#;
        assert_eq!(text(named).as_deref(), Some("(0: DLTensor*) -> None"));
        assert_eq!(
            text(r#"{"type_schema":"{\"type\":\"ffi.Function\"}"}"#).as_deref(),
            Some("(...) -> Any")
        );
    }

    #[test]
    fn names_are_those_of_the_signature() {
        let schema = r#"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"int\"},{\"type\":\"int\"},{\"type\":\"int\"}]}"#;
        let names = |signature: &str| {
            let metadata = format!(r#"{{"type_schema":"{schema}","signature":"{signature}"}}"#);
            Signature::of_metadata(&metadata).map(|signature| signature.names).unwrap_or_default()
        };
        assert_eq!(names("f(x: Tensor([m, n], float32), by: float = 2)"), ["x", "by"]);
        assert_eq!(names("f(x, y)"), ["x", "y"]);
        assert_eq!(names("f(lists: Map<str, Array<int>>, y: int)"), ["lists", "y"]);
        for other in ["f(x)", "f(x, y, z)", "f", "", "f(x, y"] {
            assert!(names(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_text_of_the_author_is_kept() {
        let schema =
            r#"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"int\"},{\"type\":\"DLTensor*\"}]}"#;
        let shown = |signature: &str| {
            text(&format!(r#"{{"type_schema":"{schema}","signature":"{signature}"}}"#))
        };
        for (written, expected) in [
            ("f(x: Tensor([n], float32))", "(x: Tensor([n], float32)) -> int"),
            ("f(x) -> Tensor", "(x) -> Tensor"),
            ("f(x:\\n  y)", "(x: y) -> int"),
            ("f(x, y)", "(0: DLTensor*) -> int"),
            ("f", "(0: DLTensor*) -> int"),
        ] {
            assert_eq!(shown(written).as_deref(), Some(expected), "{written}");
        }
    }

    #[test]
    fn what_is_no_schema_has_no_signature() {
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"type_schema":"{"}"#,
            r#"{"type_schema":"{\"type\":\"int\"}"}"#,
            r#"{"type_schema":5}"#,
        ] {
            assert_eq!(text(bad), None, "{bad}");
        }
    }
}

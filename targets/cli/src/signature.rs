//! Types of functions, from the metadata that libraries carry.

use serde_json::Value;

/// Parameter types and result type of a function.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Signature {
    /// Types of the parameters, as the ABI names them; `None` if any number is accepted.
    pub parameters: Option<Vec<Type>>,
    /// Names of the parameters, as many as there are; empty if the library does not say them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Type of the result.
    pub result: Type,
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
    /// Reads the metadata of a function; `None` if it has no type of a function.
    pub fn of_metadata(metadata: &str) -> Option<Signature> {
        let mut signature = Signature::of_schema(&schema_of(metadata)?)?;
        let names = names_of(metadata).unwrap_or_default();
        if signature.parameters.as_ref().is_some_and(|parameters| parameters.len() == names.len()) {
            signature.names = names;
        }
        Some(signature)
    }

    /// Reads a schema: `args` has the result first; `named_args` has lists of results and parameters.
    fn of_schema(schema: &Value) -> Option<Signature> {
        let name = schema.get("type")?.as_str()?;
        if !name.eq_ignore_ascii_case("ffi.Function") {
            return None;
        }
        if let Some(named) = schema.get("named_args") {
            let types = |key: &str| named.get(key).and_then(Value::as_array).map(|list| types(list));
            let result = types("return").and_then(|list| list.into_iter().next());
            let result = result.unwrap_or(Type::any());
            return Some(Signature { parameters: types("params"), names: Vec::new(), result });
        }
        let mut all =
            types(schema.get("args").and_then(Value::as_array).map_or(&[], Vec::as_slice)).into_iter();
        match all.next() {
            Some(result) => Some(Signature { parameters: Some(all.collect()), names: Vec::new(), result }),
            None => Some(Signature { parameters: None, names: Vec::new(), result: Type::any() }),
        }
    }

    /// Returns the type of a parameter; `None` if it is not known.
    pub fn parameter(&self, index: usize) -> Option<&Type> {
        self.parameters.as_ref()?.get(index)
    }
}

/// Returns the type schema of metadata; `None` if it has none.
fn schema_of(metadata: &str) -> Option<Value> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    // The schema is JSON in a text.
    match metadata.get("type_schema")? {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}

/// Returns the names in the text of a signature, such as `x` and `by` of `scale(x: Tensor([m, n], float32), by: float)`.
fn names_of(metadata: &str) -> Option<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let (_, rest) = metadata.get("signature")?.as_str()?.split_once('(')?;
    let (mut depth, mut names, mut begin) = (0_u32, Vec::new(), 0);
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' | '[' | '<' => depth += 1,
            ')' | ',' if depth == 0 => {
                names.push(rest[begin..at].split(':').next().unwrap_or_default().trim().to_string());
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

/// Depth of type arguments that is read. Deeper ones are `Any`.
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
        let (Some(name), Some(depth)) = (schema.get("type").and_then(Value::as_str), depth.checked_sub(1))
        else {
            return Type::any();
        };
        let arguments = schema.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let arguments = arguments.iter().map(|argument| Type::within(argument, depth)).collect();
        Type { name: name.into(), arguments }
    }
}

/// `(int, Tensor) -> float`
impl std::fmt::Display for Signature {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.parameters {
            Some(parameters) => {
                let parameters: Vec<_> = parameters.iter().map(Type::to_string).collect();
                write!(out, "({}) -> {}", parameters.join(", "), self.result)
            }
            None => write!(out, "(...) -> {}", self.result),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.name.strip_prefix("ffi.").unwrap_or(&self.name);
        out.write_str(name)?;
        if self.arguments.is_empty() {
            return Ok(());
        }
        let arguments: Vec<_> = self.arguments.iter().map(Type::to_string).collect();
        write!(out, "[{}]", arguments.join(", "))
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
        assert_eq!(text(positional).as_deref(), Some("(int, Array[int]) -> float"));
        let named = r#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"None\"}],\"params\":[{\"type\":\"DLTensor*\"}]}}"}"#;
        assert_eq!(text(named).as_deref(), Some("(DLTensor*) -> None"));
        assert_eq!(text(r#"{"type_schema":"{\"type\":\"ffi.Function\"}"}"#).as_deref(), Some("(...) -> Any"));
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

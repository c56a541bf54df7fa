//! Functions of a header.

use crate::signature::Type;
use crate::stubs::api::{Callable, Field, INIT};
use crate::stubs::quote::{c_comment as comment, c_literal as literal, code};

use super::types::{c_type, is_none};

/// Location of the called function.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// Symbol of a library that the program links.
    Symbol(&'a str),
    /// Global function.
    Global,
    /// Method of the class with this key.
    Method(&'a str),
}

/// A function of the header.
pub struct Call<'a> {
    /// Name in C.
    pub name: String,
    /// The called function.
    pub function: &'a Callable,
    /// Location of the called function.
    pub target: Target<'a>,
}

impl Call<'_> {
    /// Returns the definition, with the declaration of the symbol.
    pub fn text(&self) -> String {
        let declaration = match self.target {
            Target::Symbol(symbol) => format!(
                "FERRITE_STUB_C int {symbol}(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);\n"
            ),
            _ => String::new(),
        };
        let about = comment(&self.function.description());
        let function = match self.function.parameters() {
            Some(parameters) => self.typed(parameters),
            None => self.packed(),
        };
        format!("\n{declaration}/*\n * {about}\n */\n{function}")
    }

    fn typed(&self, types: &[Type]) -> String {
        let has_object = !self.function.is_static;
        let object = has_object
            .then(|| ("TVMFFIObjectHandle self".to_string(), "ferrite_stub_object(self)".into()));
        let arguments = types.iter().enumerate().map(|(index, wanted)| {
            let c_type = c_type(wanted);
            let cell = if c_type.to_cell == "*" {
                format!("*arg{index}")
            } else {
                format!("{}(arg{index})", c_type.to_cell)
            };
            (format!("{}arg{index}", c_type.parameter), cell)
        });
        let arguments: Vec<(String, String)> = object.into_iter().chain(arguments).collect();
        let result = Output::of(&self.function.result(), self.function.name == INIT);
        let mut parameters: Vec<_> =
            arguments.iter().map(|(parameter, _)| parameter.clone()).collect();
        parameters.extend(result.parameter.clone());
        let parameters = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
        let count = arguments.len();
        let (cells, given) = if count == 0 {
            (String::new(), "NULL")
        } else {
            (format!("  TVMFFIAny cells[{count}];\n"), "cells")
        };
        let filled: String = arguments
            .iter()
            .enumerate()
            .map(|(index, (_, cell))| format!("  cells[{index}] = {cell};\n"))
            .collect();
        format!(
            "FERRITE_STUB_INLINE int {}({parameters}) {{\n{cells}{}{filled}  if ({} != 0) return -1;\n{}}}\n",
            self.name,
            result.before,
            self.invocation(given, &count.to_string(), result.cell),
            result.after
        )
    }

    /// Returns a function that takes any cells.
    fn packed(&self) -> String {
        format!(
            "FERRITE_STUB_INLINE int {}(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {{\n\
             \x20 *result = ferrite_stub_none();\n  return {};\n}}\n",
            self.name,
            self.invocation("args", "num_args", "result")
        )
    }

    fn invocation(&self, cells: &str, count: &str, result: &str) -> String {
        let name = literal(&self.function.name);
        match self.target {
            Target::Symbol(symbol) => format!("{symbol}(NULL, {cells}, {count}, {result})"),
            Target::Global => format!("ferrite_stub_global({name}, {cells}, {count}, {result})"),
            Target::Method(key) => {
                format!("ferrite_stub_method({}, {name}, {cells}, {count}, {result})", literal(key))
            }
        }
    }
}

/// Code for the result of a call.
struct Output {
    /// Out-parameter for the result, if there is one.
    parameter: Option<String>,
    /// Lines before the call.
    before: String,
    /// Cell that the call writes.
    cell: &'static str,
    /// Lines after the call.
    after: String,
}

impl Output {
    fn of(wanted: &Type, is_object: bool) -> Output {
        const CELL: &str = "  TVMFFIAny cell = ferrite_stub_none();\n";
        match c_type(wanted).result {
            _ if is_object => Output {
                parameter: Some("TVMFFIObjectHandle *result".into()),
                before: "  TVMFFIAny cell = ferrite_stub_none();\n".into(),
                cell: "&cell",
                after: "  *result = (TVMFFIObjectHandle)cell.v_obj;\n  return 0;\n".into(),
            },
            _ if is_none(wanted) => Output {
                parameter: None,
                before: CELL.into(),
                cell: "&cell",
                after: "  ferrite_stub_release(&cell);\n  return 0;\n".into(),
            },
            Some((written, take)) => Output {
                parameter: Some(format!("{written} *result")),
                before: CELL.into(),
                cell: "&cell",
                after: format!("  return {take}(&cell, result);\n"),
            },
            None => Output {
                parameter: Some("TVMFFIAny *result".into()),
                before: "  *result = ferrite_stub_none();\n".into(),
                cell: "result",
                after: "  return 0;\n".into(),
            },
        }
    }
}

/// Returns the function that reads a field.
pub fn getter(name: &str, key: &str, field: &Field) -> String {
    let doc = field.doc.as_deref().map_or(String::new(), |doc| format!("{}\n\n", doc.trim_end()));
    let about = comment(&format!("{doc}`{}`", code(&format!("{}: {}", field.name, field.value))));
    let result = Output::of(&field.value, false);
    let (parameter, before, after) = match result.parameter {
        Some(parameter) => (parameter, result.before, result.after),
        None => (
            "TVMFFIAny *result".into(),
            "  *result = ferrite_stub_none();\n".into(),
            "  return 0;\n".into(),
        ),
    };
    let cell = if before.contains("*result") { "result" } else { "&cell" };
    format!(
        "\n/*\n * {about}\n */\nFERRITE_STUB_INLINE int {name}(TVMFFIObjectHandle self, {parameter}) {{\n{before}  \
         if (ferrite_stub_field({}, {}, self, {cell}) != 0) return -1;\n{after}}}\n",
        literal(key),
        literal(&field.name)
    )
}

/// Returns the function that sets a field.
pub fn setter(name: &str, key: &str, field: &Field) -> String {
    let c_type = c_type(&field.value);
    let cell =
        if c_type.to_cell == "*" { "*value".into() } else { format!("{}(value)", c_type.to_cell) };
    format!(
        "\n/*\n * Sets `{}`.\n */\nFERRITE_STUB_INLINE int {name}(TVMFFIObjectHandle self, {}value) {{\n  \
         return ferrite_stub_set_field({}, {}, self, {cell});\n}}\n",
        comment(&code(&field.name)),
        c_type.parameter,
        literal(key),
        literal(&field.name)
    )
}

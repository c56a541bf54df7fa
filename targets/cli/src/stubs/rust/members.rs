//! Rust definitions of functions, methods and fields.

use crate::stubs::api::{Callable, Class, Field, INIT};
use crate::stubs::names::Names;
use crate::stubs::quote::{code, rust_doc, rust_literal};

use super::tree;
use super::types::Types;

/// Location of a called function.
#[derive(Clone, Copy)]
pub enum Receiver<'a> {
    /// The struct with the exported functions.
    Library,
    /// Global function.
    Global,
    /// Method of the class with this key.
    Class(&'a str),
}

/// Maximum number of arguments in a tuple.
const MOST: usize = 12;

/// Returns the definition of a function.
pub fn function(
    name: &str,
    function: &Callable,
    receiver: Receiver<'_>,
    types: &mut Types<'_>,
) -> String {
    let has_object = !function.is_static;
    let called = match receiver {
        Receiver::Library => format!("self.{name}"),
        Receiver::Global => {
            format!("::ferrite::Function::global({})?", rust_literal(&function.name))
        }
        Receiver::Class(key) => {
            let (key, method) = (rust_literal(key), rust_literal(&function.name));
            format!("{}({key}, {method})?", types.path("stub_helpers::method"))
        }
    };
    let self_parameter = has_object || matches!(receiver, Receiver::Library);
    let mut parameters = if self_parameter { vec!["&self".to_string()] } else { Vec::new() };
    let result = match function.name.as_str() {
        INIT => "Self".into(),
        _ => types.owned(&function.result()),
    };
    let given = match function.parameters() {
        Some(list) if list.len() + usize::from(has_object) <= MOST => {
            let typed = list.iter().enumerate();
            parameters
                .extend(typed.map(|(index, one)| format!("arg{index}: {}", types.parameter(one))));
            let own = has_object.then(|| "self, ".to_string());
            own.into_iter()
                .chain((0..list.len()).map(|index| format!("arg{index}, ")))
                .collect::<String>()
        }
        _ => {
            parameters.push("args: &[::ferrite::AnyView<'_>]".into());
            return packed(name, function, &parameters, &called, &result, has_object);
        }
    };
    let given = match given.strip_suffix(", ") {
        None => "()".into(),
        Some(one) if !one.contains(", ") => format!("({one},)"),
        Some(several) => format!("({several})"),
    };
    let head = format!("pub fn {name}({}) -> ::ferrite::Result<{result}>", parameters.join(", "));
    format!("{}{head} {{\n    {called}.call({given})\n}}\n", rust_doc(&function.description()))
}

fn packed(
    name: &str,
    function: &Callable,
    parameters: &[String],
    called: &str,
    result: &str,
    has_object: bool,
) -> String {
    let (before, args) = if has_object {
        (
            "    let mut all = vec![::ferrite::AnyView::from(self)];\n    all.extend_from_slice(args);\n",
            "&all[..]",
        )
    } else {
        ("", "args")
    };
    let head = format!("pub fn {name}({}) -> ::ferrite::Result<{result}>", parameters.join(", "));
    format!(
        "{}{head} {{\n{before}    {called}.call({args})\n}}\n",
        rust_doc(&function.description())
    )
}

/// Returns the definition of a class, with its constructor, fields and methods, and its conversions
/// to its ancestors.
pub fn class(name: &str, class: &Class, types: &mut Types<'_>) -> String {
    let mut names = Names::default();
    let mut members = String::new();
    if let Some(init) = &class.init {
        let called = tree::name("new", &mut names);
        members.push_str(&format!(
            "\n{}",
            function(&called, init, Receiver::Class(&class.key), types)
        ));
    }
    for field in &class.fields {
        members.push_str(&access(field, &mut names, types));
    }
    for method in &class.methods {
        let called = tree::name(&method.name, &mut names);
        members.push_str(&format!(
            "\n{}",
            function(&called, method, Receiver::Class(&class.key), types)
        ));
    }
    let about =
        rust_doc(&class.doc.clone().unwrap_or_else(|| format!("Class `{}`.", code(&class.key))));
    let (helper, key) = (types.path("stub_helpers::class"), rust_literal(&class.key));
    let definition = format!(
        "::ferrite::object_class!(\n{}    pub struct {name},\n    {{\n        \
         static INDEX: ::core::sync::atomic::AtomicI32 = ::core::sync::atomic::AtomicI32::new(0);\n        \
         {helper}({key}, &INDEX)\n    }},\n    {key}\n);\n",
        indented(&about),
    );
    let methods = if members.is_empty() {
        String::new()
    } else {
        format!("\nimpl {name} {{{}}}\n", indented(&members))
    };
    definition + &methods + &ancestors(name, class, types)
}

/// Returns a field's getter and, if it is writable, its setter.
fn access(field: &Field, names: &mut Names, types: &Types<'_>) -> String {
    let get = tree::name(&field.name, names);
    let value = types.owned(&field.value);
    let declared = code(&format!("{}: {}", field.name, field.value));
    let about = match &field.doc {
        Some(doc) => format!("{}\n\n`{declared}`", doc.trim_end()),
        None => format!("`{declared}`"),
    };
    let mut text = format!(
        "\n{}pub fn {get}(&self) -> ::ferrite::Result<{value}> {{\n    {}(self, {})\n}}\n",
        rust_doc(&about),
        types.path("stub_helpers::field"),
        rust_literal(&field.name)
    );
    if field.is_writable {
        text.push_str(&format!(
            "\n{}pub fn {}(&self, value: {}) -> ::ferrite::Result<()> {{\n    {}(self, {}, value)\n}}\n",
            rust_doc(&format!("Sets `{}`.", code(&field.name))),
            tree::name(&format!("set_{}", field.name), names),
            types.parameter(&field.value),
            types.path("stub_helpers::set_field"),
            rust_literal(&field.name)
        ));
    }
    text
}

fn ancestors(name: &str, class: &Class, types: &Types<'_>) -> String {
    let mut text = String::new();
    let mut parent = class.parent.as_deref();
    while let Some(known) = parent.and_then(|key| types.tree.classes.get(key)) {
        if let Some(path) = types.tree.paths.get(known.key.as_str()) {
            text.push_str(&format!(
                "\nimpl From<{name}> for {} {{\n    fn from(value: {name}) -> Self {{\n        \
                 // SAFETY: `{}` is derived from `{}`.\n        \
                 unsafe {{ ::ferrite::ObjectClass::from_object_unchecked(::ferrite::ObjectClass::into_object(value)) }}\n    \
                 }}\n}}\n",
                types.path(path),
                code(&class.key),
                code(&known.key)
            ));
        }
        parent = known.parent.as_deref();
    }
    text
}

/// Indents lines by a block.
pub fn indented(lines: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".into() } else { format!("    {line}\n") };
    lines.lines().map(line).collect()
}

//! Python declarations of functions, methods and fields.

use crate::stubs::api::{Callable, Class, Field};
use crate::stubs::names::Names;
use crate::stubs::quote::{self, python_doc};

use super::tree::is_name;
use super::types::{Types, Way};

/// Members that all objects have.
const OF_OBJECT: [&str; 3] = ["same_as", "is_", "id_"];

/// Returns the declaration of a function.
pub fn function(name: &str, function: &Callable, in_class: bool, types: &mut Types<'_>) -> String {
    let decorator =
        if in_class { format!("@{}\n", types.builtin("staticmethod")) } else { String::new() };
    let (parameters, result) =
        (parameters(function, "", types), types.of(&function.result(), Way::Out));
    format!("{decorator}{}", body(&format!("def {name}({parameters}) -> {result}:"), &function.doc))
}

/// Returns the declaration of a class.
pub fn class(name: &str, class: &Class, types: &mut Types<'_>) -> String {
    let parent = class.parent.as_deref().and_then(|key| types.tree.path(key));
    let parent = parent.unwrap_or_else(|| types.object());
    let mut names = Names::with(&["__init__"]);
    let mut members = Vec::new();
    if let Some(doc) = &class.doc {
        members.push(python_doc(doc));
    }
    // A name declares one member.
    let fields = class.fields.iter().filter(|one| names.claim(&one.name));
    members.extend(fields.map(|one| field(class, one, types)));
    if let Some(init) = &class.init {
        let parameters = parameters(init, "self", types);
        members.push(body(&format!("def __init__({parameters}) -> None:"), &init.doc));
    }
    if class.has_derived_init {
        let any = types.any();
        members.push(format!("def __init__(self, *args: {any}, **kwargs: {any}) -> None: ..."));
    }
    let methods = class.methods.iter().filter(|one| names.claim(&one.name));
    members.extend(methods.map(|one| method(class, one, types)));
    if members.is_empty() {
        return format!("class {name}({parent}): ...");
    }
    // A comment is not a body.
    if members.iter().all(|member| member.starts_with('#')) {
        members.push("...".into());
    }
    format!("class {name}({parent}):\n{}", indented(&members.join("\n")))
}

fn field(class: &Class, field: &Field, types: &mut Types<'_>) -> String {
    if let Some(instead) = undeclared(class, &field.name, types) {
        return instead;
    }
    let (name, value) = (&field.name, types.of(&field.value, Way::Out));
    if !field.is_writable {
        let property = types.builtin("property");
        return format!(
            "@{property}\n{}",
            body(&format!("def {name}(self) -> {value}:"), &field.doc)
        );
    }
    match &field.doc {
        Some(doc) => format!("{name}: {value}\n{}", python_doc(doc)),
        None => format!("{name}: {value}"),
    }
}

fn method(class: &Class, method: &Callable, types: &mut Types<'_>) -> String {
    if let Some(instead) = undeclared(class, &method.name, types) {
        return instead;
    }
    if method.is_static {
        return function(&method.name, method, true, types);
    }
    let (parameters, result) =
        (parameters(method, "self", types), types.of(&method.result(), Way::Out));
    body(&format!("def {}({parameters}) -> {result}:", method.name), &method.doc)
}

/// Returns a comment in place of a member that cannot be declared: its name is not an identifier,
/// or an ancestor declares the name, perhaps with a contradicting type.
fn undeclared(class: &Class, name: &str, types: &mut Types<'_>) -> Option<String> {
    if !is_name(name) {
        return Some(format!(
            "# Not a valid Python name; use getattr: {}",
            quote::rust_literal(name)
        ));
    }
    if !OF_OBJECT.contains(&name) && !ancestor_has(class, name, types) {
        return None;
    }
    let any = types.any();
    Some(format!("{name}: {any}"))
}

fn ancestor_has(class: &Class, name: &str, types: &Types<'_>) -> bool {
    let mut parent = types.tree.parent(class);
    while let Some(class) = parent {
        let fields = class.fields.iter().map(|field| &field.name);
        if fields.chain(class.methods.iter().map(|method| &method.name)).any(|one| one == name) {
            return true;
        }
        parent = types.tree.parent(class);
    }
    false
}

/// Returns the parameters of a function, which are positional-only; their names document.
/// `receiver` is `self`, or empty.
fn parameters(function: &Callable, receiver: &str, types: &mut Types<'_>) -> String {
    let mut list: Vec<_> =
        Some(receiver).filter(|name| !name.is_empty()).map(String::from).into_iter().collect();
    match function.parameters() {
        Some([]) => {}
        Some(parameters) => {
            list.extend(parameters.iter().enumerate().map(|(index, one)| {
                format!("{}: {}", label(function, index), types.of(one, Way::In))
            }));
            list.push("/".into());
        }
        None => list.push(format!("*args: {}", types.any())),
    }
    list.join(", ")
}

/// Returns the name of a parameter: a number if the library has none, or one that Python refuses.
fn label(function: &Callable, index: usize) -> String {
    let names = function.names();
    let count = function.parameters().map_or(0, <[_]>::len);
    let is_numbered =
        |name: &str| name.strip_prefix('_').is_some_and(|rest| rest.parse::<u64>().is_ok());
    let is_good = |name: &str| {
        is_name(name)
            && !is_numbered(name)
            && names.iter().filter(|other| *other == name).count() == 1
    };
    match names.get(index) {
        Some(name) if names.len() == count && is_good(name) && name != "self" => name.clone(),
        _ => format!("_{index}"),
    }
}

/// Returns a declaration whose body is its documentation, or `...` without one.
fn body(head: &str, doc: &Option<String>) -> String {
    match doc {
        Some(doc) => format!("{head}\n{}", indented(&python_doc(doc)).trim_end()),
        None => format!("{head} ..."),
    }
}

fn indented(lines: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".into() } else { format!("    {line}\n") };
    lines.lines().map(line).collect()
}

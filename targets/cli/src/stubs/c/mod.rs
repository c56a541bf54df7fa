//! Headers in C89: a typed function for each function and method, and a getter for each field.
//!
//! | file | does |
//! |---|---|
//! | `types` | representation of the types of the ABI in C |
//! | `calls` | the functions |
//! | `helpers.h` | helper functions of every header: cells, conversions, lookups |

mod calls;
mod types;

use super::api::{Api, Callable, Class};
use super::names::{Names, identifier, is_identifier};
use super::quote::{c_comment as comment, c_literal as literal};

use calls::{Call, Target};

/// Helper functions of every header.
const HELPERS: &str = include_str!("helpers.h");

/// Renders the C header as source text.
pub fn render_header(api: &Api) -> String {
    let guard = format!("{}_STUBS_H_", identifier(&api.name).to_uppercase());
    let mut names = Names::with(&words(HELPERS).collect::<Vec<_>>());
    let mut body = String::new();
    for one in &api.exported {
        body.push_str(&exported(api, one, &mut names));
    }
    for one in &api.globals {
        let name = names.take(&c_name(api, &api.path(&one.name).join("_")));
        body.push_str(&Call { name, function: one, target: Target::Global }.text());
    }
    for class in &api.classes {
        body.push_str(&members(api, class, &mut names));
    }
    format!(
        "/*\n * Functions and classes of {}. Made by `ferrite stubs --c`; C89 and later, C++11 and later.\n *\n{ABOUT} */\n\
         #ifndef {guard}\n#define {guard}\n\n{HELPERS}\n{body}\n#endif /* {guard} */\n",
        comment(&api.origin)
    )
}

const ABOUT: &str = " \
* Functions return 0, or -1 with an error raised, which TVMFFIErrorMoveFromRaised takes. Arguments are borrowed. Results that are
 * cells (TVMFFIAny) are the caller's: ferrite_stub_release gives them back. Link exported functions' library.
";

fn exported(api: &Api, one: &Callable, names: &mut Names) -> String {
    let symbol = format!("__tvm_ffi_{}", one.name);
    if !is_identifier(&symbol) {
        return format!("\n/* Not a valid C name: {} */\n", comment(&one.description()));
    }
    let name = names.take(&c_name(api, &one.name));
    Call { name, function: one, target: Target::Symbol(&symbol) }.text()
}

fn members(api: &Api, class: &Class, names: &mut Names) -> String {
    let prefix = loop {
        let prefix = names.take(&c_name(api, &api.path(&class.key).join("_")));
        if names.claim(&format!("{prefix}_KEY")) {
            break prefix;
        }
    };
    let parent = class.parent.as_deref().unwrap_or("ffi.Object");
    let doc = class.doc.as_deref().map_or(String::new(), |doc| format!("\n * {}", comment(doc)));
    let key = literal(&class.key);
    let mut text = format!(
        "\n/*\n * Class {}, derived from {}.{doc}\n */\n#define {prefix}_KEY {key}\n",
        comment(&class.key),
        comment(parent)
    );
    let target = Target::Method(&class.key);
    if let Some(init) = &class.init {
        text.push_str(
            &Call { name: names.take(&format!("{prefix}_new")), function: init, target }.text(),
        );
    }
    for field in &class.fields {
        let name = names.take(&identifier(&format!("{prefix}_get_{}", field.name)));
        text.push_str(&calls::getter(&name, &class.key, field));
        if field.is_writable {
            let name = names.take(&identifier(&format!("{prefix}_set_{}", field.name)));
            text.push_str(&calls::setter(&name, &class.key, field));
        }
    }
    for method in &class.methods {
        let name = names.take(&identifier(&format!("{prefix}_{}", method.name)));
        text.push_str(&Call { name, function: method, target }.text());
    }
    text
}

/// Returns the name of a function, which begins with the library's name and does not clash with C,
/// C++ or their headers.
fn c_name(api: &Api, name: &str) -> String {
    let name = identifier(&format!("{}_{name}", api.name));
    let is_reserved = name.starts_with('_')
        || ENDS.iter().any(|end| name.ends_with(end))
        || KEYWORDS.split_whitespace().any(|word| word == name);
    if is_reserved { format!("stub_{name}") } else { name }
}

/// Suffixes of names in the included headers, such as `size_t` and `INT64_MAX`.
const ENDS: [&str; 5] = ["_t", "_MIN", "_MAX", "_C", "_WIDTH"];

/// Keywords of C and C++ that contain an underscore.
const KEYWORDS: &str = "and_eq co_await co_return co_yield const_cast dynamic_cast not_eq or_eq reinterpret_cast static_assert \
    static_cast thread_local typeof_unqual xor_eq";

/// Returns the identifiers of C code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let is_other = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
    code.split(is_other).filter(|word| is_identifier(word))
}

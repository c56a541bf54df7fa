//! `ffi.json.*`.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::Result;
use ferrite_core::static_function;
use ferrite_core::string::String;

/// The functions of this module.
///
/// # Upstream
///
/// The registrations in `src/ffi/extra/json_parser.cc` and `src/ffi/extra/json_writer.cc`.
pub static FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.json.Parse", parse), static_function!("ffi.json.Stringify", stringify)];

fn parse(text: String) -> Result<Any> {
    super::parse(text.as_bytes())
}

/// The indent is a C `int`: larger numbers wrap, as they do upstream.
fn stringify(value: Any, indent: Option<i32>) -> Result<String> {
    super::stringify(&value, indent.map(i64::from))
}

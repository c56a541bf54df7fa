//! Table of the global functions `ffi.json.*`.

use ferrite_core::any::Any;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::string::String;

use super::calls::Json;
use crate::operation::operation;

/// Static table of the global JSON functions.
///
/// # Upstream
/// The registrations in `src/ffi/extra/json_parser.cc` and `src/ffi/extra/json_writer.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    operation!(Parse of Json, "ffi.json.Parse", (String) -> Any),
    operation!(Stringify of Json, "ffi.json.Stringify", (Any, Option<i32>) -> String),
];

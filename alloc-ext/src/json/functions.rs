//! The global functions `ffi.json.*`.

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use super::{parse, stringify};
use crate::operation::{Answer, Operand, Operands, Operations, operation};

/// Static table of the global JSON functions.
///
/// # Upstream
/// The registrations in `src/ffi/extra/json_parser.cc` and `src/ffi/extra/json_writer.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    operation!(Parse of JsonOperation, "ffi.json.Parse", (String) -> Any),
    operation!(Stringify of JsonOperation, "ffi.json.Stringify", (Any, Option<i32>) -> String),
];

/// A JSON operation with its operands.
#[derive(Clone, Copy)]
enum JsonOperation {
    Parse(Operand<0, String>),
    Stringify(Operand<0, Any>, Operand<1, Option<i32>>),
}

impl Operations for JsonOperation {
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
        answer.write(match self {
            JsonOperation::Parse(text) => parse(operands.get(text).as_bytes())?,
            JsonOperation::Stringify(value, indent) => {
                let indent = operands.get(indent).map(i64::from);
                Any::from(stringify(&operands.get(value).to_owned()?, indent)?)
            }
        });
        Ok(())
    }
}

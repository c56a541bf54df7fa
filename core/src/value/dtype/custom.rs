//! Custom dtypes: user-defined type codes, whose names are resolved by global functions.
#![forbid(unsafe_code)]

use super::code::CUSTOM_BEGIN;
use super::source::Source;
use crate::call::function::Function;
use crate::error::message::SHORT;
use crate::error::{Error, Result};
use crate::names::type_table;
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::value::string::String;
use crate::{plain_bail, plain_error};

const GET_CUSTOM_NAME: &str = "dtype.get_custom_type_name";
const GET_CUSTOM_CODE: &str = "dtype.get_custom_type_code";

/// Returns `true` if `code` is the code of a custom type.
#[inline(always)]
pub(super) fn is(code: u8) -> bool {
    code >= CUSTOM_BEGIN
}

/// Looks up the name of a custom type, which is a string value. Returns `None` for codes of other
/// types.
///
/// # Errors
/// ValueError if the global function is missing; TypeError if it does not return a string; errors
/// of the function.
#[inline]
pub(super) fn name(code: u8) -> Result<Option<Any>> {
    if !is(code) {
        return Ok(None);
    }
    let mut answer = Any::from(i64::from(code));
    ask(GET_CUSTOM_NAME, &mut answer)?;
    match answer.view().bytes_of_string() {
        Some(_) => Ok(Some(answer)),
        None => Err(wrong_answer(answer.view(), "str")),
    }
}

/// Parses the `[name]` of a custom type and looks up its code.
///
/// # Errors
/// ValueError if a bracket or the global function is missing; TypeError if the function does not
/// return an integer; MemoryError; errors of the function.
pub(super) fn read(source: &mut Source<'_>) -> Result<u8> {
    let is_open = source.take(b"[");
    let Some(name) = take_name(source).filter(|_| is_open) else {
        return Err(unnamed(source, if is_open { "closing" } else { "opening" }));
    };
    let mut answer = String::from_bytes(name)?.into_any();
    ask(GET_CUSTOM_CODE, &mut answer)?;
    match answer.try_get::<i64>()? {
        // Only the low byte, as upstream.
        Some(code) => Ok(code as u8),
        None => Err(wrong_answer(answer.view(), "int")),
    }
}

/// Takes the characters up to a closing bracket, and the bracket.
fn take_name<'a>(source: &mut Source<'a>) -> Option<&'a [u8]> {
    let end = source.rest.iter().position(|&byte| byte == b']')?;
    let (name, rest) = (source.rest.get(..end)?, source.rest.get(end + 1..)?);
    source.rest = rest;
    Some(name)
}

#[cold]
fn unnamed(source: &Source<'_>, missing: &str) -> Error {
    if SHORT {
        return source.unknown();
    }
    plain_error!(
        VALUE_ERROR,
        "expected {} brace after 'custom' type in{}{}",
        missing,
        source.prefix,
        source.tail
    )
}

/// Calls a global function that resolves custom dtypes, and replaces `value`, its argument, by the
/// result.
#[inline(never)]
fn ask(name: &str, value: &mut Any) -> Result<()> {
    let Some(function) = Function::find_global(name)? else {
        plain_bail!(VALUE_ERROR, "Function {} not found", name; "no function `{}`", name);
    };
    function.call_packed(&[value.view()]).map(|answer| *value = answer)
}

/// Creates the TypeError of [`AnyView::get`] without linking the code that describes mismatches in
/// detail.
#[cold]
#[inline(never)]
fn wrong_answer(answer: AnyView<'_>, expected: &str) -> Error {
    let found = answer.type_index();
    plain_error!(
        TYPE_ERROR,
        "Cannot convert from type `{}` to `{}`",
        type_table::type_key_of(found),
        expected;
        "type {} is not `{}`",
        found,
        expected
    )
}

#[cfg(all(test, not(feature = "client")))]
mod tests {
    use super::*;
    use crate::abi::DLDataType;
    use crate::value::dtype::to_string;

    #[test]
    fn custom_types_ask_their_functions() {
        let error = DLDataType::parse(b"custom[ferrite]8").unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(error.message_bytes(), b"Function dtype.get_custom_type_code not found");
        let register = |name: &str, function: Function| {
            crate::names::global_table::set(name.as_bytes(), &function, true)
        };
        let answer_by = |answer: fn(&AnyView<'_>) -> Result<Any>| {
            Function::from_packed(move |args: &[AnyView<'_>]| answer(&args[0])).unwrap()
        };
        register(GET_CUSTOM_NAME, answer_by(|_| Ok(Any::from(String::new("mine")?)))).unwrap();
        register(GET_CUSTOM_CODE, answer_by(|_| Ok(Any::from(140)))).unwrap();
        let dtype = DLDataType { code: 140, bits: 16, lanes: 2 };
        assert_eq!(DLDataType::parse(b"custom[mine]16x2").unwrap(), dtype);
        assert_eq!(to_string(dtype).unwrap().as_bytes(), b"custom[mine]x2");
        register(GET_CUSTOM_NAME, answer_by(|_| Ok(Any::from(1.5)))).unwrap();
        register(GET_CUSTOM_CODE, answer_by(|name| name.to_owned())).unwrap();
        let error = to_string(dtype).unwrap_err();
        assert_eq!(error.message_bytes(), b"Cannot convert from type `float` to `str`");
        let error = DLDataType::parse(b"custom[mine]").unwrap_err();
        assert_eq!(error.message_bytes(), b"Cannot convert from type `ffi.SmallStr` to `int`");
    }
}

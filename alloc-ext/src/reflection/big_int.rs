//! Type attributes of big integers: comparison, hash, and decimal strings in JSON object graphs.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::Any;
use ferrite_core::value::big_int::BigInt;
use ferrite_core::{Error, String, plain_error};

use super::class::{Attr, attr};
use crate::dataclass::{self, int_text};

static ATTRS: &[Attr] = &[
    attr!("ffi.BigInt", "__ffi_eq__", eq),
    attr!("ffi.BigInt", "__ffi_compare__", compare),
    attr!("ffi.BigInt", "__ffi_hash__", hash),
    attr!("ffi.BigInt", "__data_to_json__", data_to_json),
    attr!("ffi.BigInt", "__data_from_json__", data_from_json),
];

/// Registers the attributes of `ffi.BigInt`, unless they are registered already.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// The definition of `BigIntObj` in `container.cc`.
pub(super) fn register() -> Result<()> {
    for attr in ATTRS {
        attr.register_once(type_index::BIG_INT)?;
    }
    Ok(())
}

// Hooks receive a callback for children, but integers have none.
fn eq(lhs: ObjectRef, rhs: ObjectRef, _: Function) -> Result<bool> {
    dataclass::recursive_eq(&big_int(lhs.into())?, &big_int(rhs.into())?)
}

fn compare(lhs: ObjectRef, rhs: ObjectRef, _: Function) -> Result<i32> {
    dataclass::recursive_compare(&big_int(lhs.into())?, &big_int(rhs.into())?)
}

fn hash(value: ObjectRef, _: Function) -> Result<i64> {
    dataclass::recursive_hash(&big_int(value.into())?)
}

fn data_to_json(value: Any) -> Result<Any> {
    let mut text = Buffer::new();
    match value.try_get::<i64>()? {
        Some(word) if value.type_index() == type_index::INT => {
            int_text::write_words(&mut text, &[word])?
        }
        _ => int_text::write_words(&mut text, big_int(value)?.get::<BigInt>()?.words())?,
    }
    String::from_bytes(&text).map(Any::new)
}

fn data_from_json(data: Any) -> Result<Any> {
    let Some(text) = data.try_get::<String>()? else { return Err(no(&data, "str")) };
    int_text::parse(text.as_bytes())?
        .ok_or_else(|| plain_error!(VALUE_ERROR, "Invalid decimal string for ffi.BigInt"))
}

/// Returns the value if it is a big integer; raises TypeError otherwise.
fn big_int(value: Any) -> Result<Any> {
    if value.type_index() == type_index::BIG_INT { Ok(value) } else { Err(no(&value, "BigInt")) }
}

fn no(value: &Any, expected: &str) -> Error {
    let found = Lossy(type_table::type_key_of(value.type_index()));
    plain_error!(TYPE_ERROR, "Cannot treat type `{}` as type `{}`", found, expected)
}

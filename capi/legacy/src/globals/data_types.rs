//! Global functions for data types: custom types by name and code, and the limits of a type.

use core::ptr;

use ferrite_core::error::{Error, Result};
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::name_table::{Entry, NameTable};
use ferrite_core::platform::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use ferrite_core::value::dtype::{CUSTOM_BEGIN, code, code_name};
use ferrite_core::{Any, AnyView, String, plain_bail, plain_ensure, plain_error, static_function};

use crate::{boxed, dtype};

/// Functions for custom types in 0.6.
pub const OLD: &[StaticFunction] = &[
    static_function!("_datatype_register", register),
    static_function!("_datatype_get_type_code", code_of),
    static_function!("_datatype_get_type_name", name_of),
    static_function!("_datatype_get_type_registered", is_registered),
    static_function!(packed "_min_value", lowest),
    static_function!(packed "_max_value", highest),
];

/// Functions for custom types since 0.7.
pub const RUNTIME: &[StaticFunction] = &[
    static_function!("runtime._datatype_register", register),
    static_function!("runtime._datatype_get_type_code", code_of),
    static_function!("runtime._datatype_get_type_name", name_of),
    static_function!("runtime._datatype_get_type_registered", is_registered),
];

/// Functions by which tvm-ffi finds custom types.
pub const CURRENT: &[StaticFunction] = &[
    static_function!("dtype.get_custom_type_code", code_of),
    static_function!("dtype.get_custom_type_name", name_of),
];

type Name = Entry<AtomicU8>;

/// Codes of custom types by name.
pub static CODES: NameTable<AtomicU8> = NameTable::new();
/// Names of custom types, at the index of their codes. The entries live forever.
static NAMES: [AtomicPtr<Name>; 256] = [const { AtomicPtr::new(ptr::null_mut()) }; 256];

/// Registers a custom type. A later registration of its name or its code replaces this one.
///
/// # Errors
/// ValueError for a code outside 129 to 255; MemoryError.
fn register(name: String, code: i64) -> Result<()> {
    let Some(code) = u8::try_from(code).ok().filter(|code| *code >= CUSTOM_BEGIN) else {
        plain_bail!(VALUE_ERROR, "The code of a custom type is 129 to 255, not {}", &code);
    };
    let entry = CODES.get_or_insert(name.as_bytes(), || AtomicU8::new(code))?;
    entry.value.store(code, Ordering::Release);
    NAMES[usize::from(code)].store(ptr::from_ref(entry).cast_mut(), Ordering::Release);
    Ok(())
}

fn code_of(name: String) -> Result<i64> {
    match CODES.get(name.as_bytes()) {
        Some(entry) => Ok(entry.value.load(Ordering::Acquire).into()),
        None => plain_bail!(VALUE_ERROR, "Type name {} not registered", name.as_bytes()),
    }
}

/// Returns the name of a custom type, or of a type of tvm-ffi that earlier releases lack.
///
/// # Errors
/// ValueError for a code without a name.
fn name_of(code: i64) -> Result<String> {
    let unknown = || -> Error { plain_error!(VALUE_ERROR, "Type code {} not registered", &code) };
    let number = u8::try_from(code).map_err(|_| unknown())?;
    // SAFETY: null, or an entry of the static table, which is never freed.
    match unsafe { NAMES[usize::from(number)].load(Ordering::Acquire).as_ref() } {
        Some(entry) => String::from_bytes(entry.name()),
        None => String::new(code_name(number).ok_or_else(unknown)?),
    }
}

fn is_registered(code: i64) -> bool {
    usize::try_from(code)
        .ok()
        .and_then(|code| NAMES.get(code))
        .is_some_and(|name| !name.load(Ordering::Acquire).is_null())
}

/// Returns the lowest value of a data type as a constant. Takes `(dtype)`.
fn lowest(args: &[AnyView<'_>]) -> Result<Any> {
    limit(args, true)
}

/// Returns the highest value of a data type as a constant. Takes `(dtype)`.
fn highest(args: &[AnyView<'_>]) -> Result<Any> {
    limit(args, false)
}

fn limit(args: &[AnyView<'_>], is_lowest: bool) -> Result<Any> {
    let [name] = args else { plain_bail!(TYPE_ERROR, "A data type was expected") };
    let former = dtype::of_argument(*name)?;
    plain_ensure!(former.lanes == 1, VALUE_ERROR, "A vector type has no limits");
    let value = match (former.code, former.bits) {
        (code::INT, 1..=64) => {
            let lowest = i64::MIN >> (64 - former.bits);
            Any::from(if is_lowest { lowest } else { !lowest })
        }
        (code::UINT, 1..=63) => Any::from(if is_lowest { 0 } else { (1i64 << former.bits) - 1 }),
        (code::UINT, 64) if is_lowest => Any::from(0i64),
        (code::FLOAT, 16 | 32 | 64) => {
            let highest = match former.bits {
                16 => 65504.0,
                32 => f64::from(f32::MAX),
                _ => f64::MAX,
            };
            Any::from(if is_lowest { -highest } else { highest })
        }
        _ => plain_bail!(
            VALUE_ERROR,
            "A data type with code {} and {} bits has no limits",
            former.code,
            former.bits
        ),
    };
    boxed::constant(value.view(), dtype::to_current(former))
}

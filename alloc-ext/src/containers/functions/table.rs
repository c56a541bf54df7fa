//! `ffi.Map*` and `ffi.Dict*`.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::ffi_functions::invalid_object;
use ferrite_core::fresh;
use ferrite_core::object::ObjectClass;
use ferrite_core::{plain_ensure, type_index};

use super::iteration;
use crate::containers::table::{Table, build};
use crate::containers::{DictObject, cell, missing_key};
use crate::operation::{Family, Operands, Verb};

pub(super) fn create_map(args: &[AnyView<'_>]) -> Result<Any> {
    create(type_index::MAP, args)
}

pub(super) fn create_dict(args: &[AnyView<'_>]) -> Result<Any> {
    create(type_index::DICT, args)
}

/// An object of alternating keys and values.
fn create(type_index: i32, args: &[AnyView<'_>]) -> Result<Any> {
    let (pairs, rest) = args.as_chunks();
    plain_ensure!(rest.is_empty(), INTERNAL_ERROR, "Check failed: args.size() % 2 == 0 (1 vs. 0) : ");
    build::of_pairs(type_index, pairs).map(Any::new)
}

/// What the operations here share.
pub(super) const FAMILY: Family = Family {
    run,
    // SAFETY: the caller passes a Map.
    copy: Some(|map| unsafe { DictObject::copy_of(map.object(0)).map(Any::from) }),
};

/// Runs an operation.
///
/// # Errors
/// Those of the methods of a map or dict.
///
/// # Safety
/// `result` is valid for writing.
#[cfg_attr(feature = "speed", inline(always))]
unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows. Those of this family are on
    // Maps and Dicts, and those that change it on Dicts. One thread at a time uses a table, and no foreign code runs between
    // finding an entry and copying its value.
    unsafe {
        let dict: &DictObject = operands.object(0);
        let table = Table::of(dict.as_object());
        let own = |index| fresh::view(operands.value(index)).to_owned();
        let mut answer = Any::NONE;
        match verb {
            Verb::Size => answer = Any::from(table.len() as i64),
            Verb::ForwardIterFunctor => answer = iteration::functor(dict.as_object().clone())?,
            Verb::GetItem | Verb::GetItemOrMissing => match table.find_entry(operands.value(1))? {
                Some(entry) => {
                    cell::share(entry.value(), result);
                    return Ok(());
                }
                None if matches!(verb, Verb::GetItem) => return Err(missing_key()),
                None => answer = invalid_object().into_any(),
            },
            Verb::Count => answer = Any::from(i64::from(table.find_entry(operands.value(1))?.is_some())),
            Verb::SetItem => dict.insert(own(1)?, own(2)?)?,
            Verb::Erase => {
                let slot = table.find(operands.value(1))?;
                drop(Table::of(dict.as_object()).remove(slot));
            }
            Verb::Clear => dict.clear(),
            _ => {}
        }
        result.write(answer.into_raw());
    }
    Ok(())
}

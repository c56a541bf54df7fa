//! `ffi.Map*` and `ffi.Dict*`.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::ffi_functions::invalid_object;
use ferrite_core::fresh;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::object_alloc::Apart;
use ferrite_core::{plain_ensure, type_index};

use super::iteration;
use crate::containers::map_base;
use crate::containers::map_table::Table;
use crate::containers::{DictObject, cell, map_at_once, map_in_place, map_insert, missing_key};
use crate::operation::{Family, Operands, Verb};

pub(super) fn create_map(args: &[AnyView<'_>]) -> Result<Any> {
    // SAFETY: it is a Map that nobody else knows.
    create(type_index::MAP, args, |map, key, value| unsafe { map_insert::insert(map, key, value) })
}

pub(super) fn create_dict(args: &[AnyView<'_>]) -> Result<Any> {
    // SAFETY: it is a Dict that nobody else knows.
    create(type_index::DICT, args, |dict, key, value| unsafe { map_in_place::insert(dict, key, value) })
}

/// An object of keys and values that alternate, so there must be as many of one as of the other.
#[cfg_attr(feature = "std", inline(always))]
#[cfg_attr(not(feature = "std"), inline(never))]
fn create(
    type_index: i32,
    args: &[AnyView<'_>],
    insert: fn(&mut ObjectRef, Any, Any) -> Result<()>,
) -> Result<Any> {
    let (pairs, rest) = args.as_chunks();
    plain_ensure!(rest.is_empty(), INTERNAL_ERROR, "Check failed: args.size() % 2 == 0 (1 vs. 0) : ");
    if let Some(object) = map_at_once::object_of(type_index, pairs)? {
        return Ok(Any::new(object));
    }
    // It grows as upstream's does: a key may come twice.
    let mut object = map_base::allocate_small(type_index, 0, &mut Apart)?;
    for [key, value] in pairs {
        insert(&mut object, cell::own(key)?, cell::own(value)?)?;
    }
    Ok(Any::new(object))
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
#[cfg_attr(feature = "std", inline(always))]
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
                let place = table.find(operands.value(1))?;
                drop(Table::of(dict.as_object()).remove(place));
            }
            Verb::Clear => dict.clear(),
            _ => {}
        }
        result.write(answer.into_raw());
    }
    Ok(())
}

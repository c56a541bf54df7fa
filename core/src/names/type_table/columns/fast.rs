//! Lookup of attribute columns by name: a static table for the attributes that the library uses,
//! and a name table for all others.

use crate::error::Result;
use crate::names::name_table::NameTable;

use super::super::attr_column::AttrColumn;

/// Names of the attributes used by upstream's library. Their columns always exist, since C++ code
/// looks a column up only once and would cache that it is missing.
const KNOWN_NAMES: [&str; 19] = [
    "__any_hash__",
    "__any_equal__",
    "__ffi_new__",
    "__ffi_init__",
    "__ffi_shallow_copy__",
    "__ffi_convert__",
    "__ffi_type_final__",
    "__ffi_repr__",
    "__ffi_hash__",
    "__ffi_eq__",
    "__ffi_compare__",
    "__ffi_enum__",
    "__s_equal__",
    "__s_hash__",
    "__s_visit__",
    "__s_mutate__",
    "__s_maybe_inplace_mutate__",
    "__data_to_json__",
    "__data_from_json__",
];

static KNOWN: [AttrColumn; KNOWN_NAMES.len()] = [const { AttrColumn::new() }; KNOWN_NAMES.len()];

/// Columns of all attributes that are not in the static table.
pub(crate) static OTHERS: NameTable<AttrColumn> = NameTable::new();

fn known(name: &[u8]) -> Option<&'static AttrColumn> {
    KNOWN.get(KNOWN_NAMES.iter().position(|known| known.as_bytes() == name)?)
}

/// Finds the column of an attribute by name.
pub(in crate::names::type_table) fn get(name: &[u8]) -> Option<&'static AttrColumn> {
    known(name).or_else(|| other(name))
}

#[inline(never)]
fn other(name: &[u8]) -> Option<&'static AttrColumn> {
    Some(&OTHERS.get(name)?.value)
}

/// Finds or creates the column of an attribute.
pub(in crate::names::type_table) fn get_or_make(name: &[u8]) -> Result<&'static AttrColumn> {
    match known(name) {
        Some(column) => Ok(column),
        None => Ok(&OTHERS.get_or_insert(name, AttrColumn::new)?.value),
    }
}

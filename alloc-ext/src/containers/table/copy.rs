//! Copies of whole tables.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::Apart;
use ferrite_core::plain_ensure;

use super::dense::{self, Dense};
use super::layout::TableMark;
use super::record;
use super::small::Small;
use super::view::Table;

/// Creates a Map or Dict with the same entries in the same slots and layout as a table.
///
/// # Errors
/// MemoryError; RuntimeError if a user's allocator changed the table.
pub(crate) fn copy_object(type_index: i32, table: Table<'_>) -> Result<ObjectRef> {
    match table {
        Table::Dense(dense) => copy_dense(type_index, dense),
        Table::Small(small) => copy_small(type_index, small),
    }
}

/// Copies a dense table. The copy is complete before its object is allocated, since a user's
/// allocator may change the table.
fn copy_dense(type_index: i32, source: Dense<'_>) -> Result<ObjectRef> {
    let mut fields = Dense::allocate(source.slots().max(dense::LEAST_SLOTS))?;
    // SAFETY: the copy has no other reference, and at least as many slots; the references that the
    // copies of the words stand for are counted, and given back where the object fails.
    unsafe {
        let copy = Dense::at(&raw mut fields);
        if source.slots() > 0 {
            copy.copy_words_of(source);
        }
        Table::Dense(copy).retain_entries();
        record::allocate_dense(type_index, fields).inspect_err(|_| Table::Dense(copy).destroy())
    }
}

fn copy_small(type_index: i32, source: Small<'_>) -> Result<ObjectRef> {
    // SAFETY: the table is alive.
    let mark = || unsafe { TableMark::of(source.fields) };
    let before = mark();
    let object = record::allocate_small(type_index, source.len(), &mut Apart)?;
    plain_ensure!(mark() == before, RUNTIME_ERROR, "The map was changed while it was copied");
    // SAFETY: the new table is small, has the capacity, and is without other references.
    unsafe {
        let table = Table::of(&object);
        let target = table.fields();
        let cells = 2 * source.len();
        (*target)
            .data
            .cast::<TVMFFIAny>()
            .copy_from_nonoverlapping((*source.fields).data.cast(), cells);
        (*target).size = (*source.fields).size;
        table.retain_entries();
    }
    Ok(object)
}

//! Larger storage for a table that is full: built beside it, so that the table is untouched when that fails.

use core::ffi::c_void;
use core::mem;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::Any;
use ferrite_core::error::{self, Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::{plain_error, prefetch};

use super::cell;
use super::key;
use super::map_base::TableFields;
use super::map_dense::{Dense, LEAST_SLOTS};
use super::map_entry::{Entry, Mark};
use super::map_small;
use super::map_table::Table;

/// Cells of `capacity` entries, the first of which hold copies of the words of all entries of `table`.
///
/// # Errors
/// MemoryError when the memory is not there.
pub(super) fn small_block(table: Table<'_>, capacity: usize) -> Result<*mut c_void> {
    let bytes = super::storage::block_bytes(capacity, map_small::ENTRY_BYTES)?;
    let block = super::storage::allocate_block(bytes)?.as_ptr();
    let mut target = block.cast::<TVMFFIAny>();
    for entry in table.entries() {
        // SAFETY: there are no more entries than the capacity; both cells of each lie side by side.
        unsafe {
            Entry::at(target).move_from(entry);
            target = target.add(2);
        }
    }
    Ok(block)
}

/// The dense table that upstream would go over to when there is no room, with copies of the words of all entries.
///
/// The entries are in both tables then: the caller ends one with [`Table::forget_entries`].
///
/// # Errors
/// What key hooks raise; RuntimeError when one changed the table; MemoryError. Nothing has changed then.
pub(super) fn dense(table: Table<'_>) -> Result<TableFields> {
    let mut slots = match table {
        Table::Small(small) => (2 * small.len()).next_power_of_two(),
        Table::Dense(dense) => 2 * dense.slots(),
    }
    .max(LEAST_SLOTS);
    let mut hashes = Hashes::OfKeys;
    loop {
        let mut fields = Dense::allocate(slots)?;
        // SAFETY: the fields are those of a table that nobody else knows.
        let dense = unsafe { Dense::at(&raw mut fields) };
        let filled = fill(table, dense, &hashes);
        if matches!(filled, Ok(Filled::All)) {
            return Ok(fields);
        }
        // SAFETY: the entries still belong to `table`; only the storage goes.
        unsafe { dense.forget_entries() }
        match filled? {
            Filled::NeedsHooks => hashes = Hashes::by_hooks(table)?,
            _ => slots = slots.checked_mul(2).ok_or_else(|| error::out_of_memory(usize::MAX))?,
        }
    }
}

/// How filling a table went.
enum Filled {
    All,
    /// Some entry found no place.
    Partly,
    /// Some key has to be hashed by registered code, which has not run.
    NeedsHooks,
}

/// Entries from the one that is placed to the one that is looked at, so that the places come from memory meanwhile.
const AHEAD: usize = if prefetch::GIVEN { 8 } else { 2 };

/// Copies the words of all entries to a new table.
fn fill(source: Table<'_>, target: Dense<'_>, hashes: &Hashes) -> Result<Filled> {
    let mut ahead = [const { None }; AHEAD];
    let mut entries = source.entries();
    for number in 0..source.len() + AHEAD {
        let next = match entries.next() {
            Some(entry) => {
                let Some(hash) = hashes.get(number, entry)? else { return Ok(Filled::NeedsHooks) };
                target.prefetch_home(hash);
                Some((entry, hash))
            }
            None => None,
        };
        let Some((entry, hash)) = mem::replace(&mut ahead[number % AHEAD], next) else { continue };
        // SAFETY: the target is ours alone, and keys of one table differ; no foreign code runs here.
        let Some(cells) = (unsafe { target.place(hash) }) else { return Ok(Filled::Partly) };
        // SAFETY: the cells are new; one of the two tables will be forgotten.
        unsafe { cells.move_from(entry) }
    }
    Ok(Filled::All)
}

/// The hashes of all keys of a table.
enum Hashes {
    /// No registered code has a say in them, as far as is known.
    OfKeys,
    /// Computed beforehand, with the keys: registered code may do anything to the table, and nothing may happen to the table
    /// while entries are in two places.
    ByHooks(Buffer<(Any, u64)>),
}

impl Hashes {
    fn by_hooks(table: Table<'_>) -> Result<Self> {
        let mut keys = Buffer::try_with_capacity(table.len())?;
        for entry in table.entries() {
            // SAFETY: the entry is in the table; the copy keeps the key alive whatever the hook does.
            let key = unsafe { cell::copy_of(entry.key()) };
            let hash = hash_unchanged(table, &key)?;
            keys.try_push((key, hash))?;
        }
        Ok(Self::ByHooks(keys))
    }

    /// The hash of the key of an entry; None when registered code must be asked, which has not been done.
    fn get(&self, number: usize, entry: Entry) -> Result<Option<u64>> {
        // SAFETY: the entry is in a table that nobody changes now.
        let key = unsafe { cell::borrow(entry.key()) };
        match self {
            Self::OfKeys if key::has_hash_hook(key.type_index()) => Ok(None),
            Self::OfKeys => key::hash(key).map(Some),
            Self::ByHooks(keys) => match keys.get(number) {
                Some((known, hash)) if cell::same_words(known.as_raw(), key.as_raw()) => Ok(Some(*hash)),
                _ => Err(changed()),
            },
        }
    }
}

/// The hash of a key.
///
/// # Errors
/// What key hooks raise; RuntimeError when one changed the table, whose layout may be another one then.
fn hash_unchanged(table: Table<'_>, key: &Any) -> Result<u64> {
    let fields = match table {
        Table::Small(small) => small.fields,
        Table::Dense(dense) => dense.fields,
    };
    // SAFETY: the table is alive.
    let mark = || unsafe { Mark::of(fields) };
    let before = mark();
    let hash = key::hash(&key.view())?;
    if mark() == before { Ok(hash) } else { Err(changed()) }
}

#[cold]
fn changed() -> Error {
    plain_error!(RUNTIME_ERROR, "The map was changed while its keys were hashed")
}

//! Insertion, and growth of a full table within the same object. The larger storage is filled
//! before the table is changed, so that the table is unchanged after a failure.

use core::ffi::c_void;
use core::mem;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::{self, Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::prefetch;
use ferrite_core::value::any::Any;

use super::dense::{Dense, LEAST_SLOTS};
use super::entry::Entry;
use super::layout::{TableFields, TableMark};
use super::small;
use super::view::Table;
use crate::containers::{key, storage};

/// Sets the value of a key.
///
/// # Errors
/// Errors of key hooks; MemoryError. On failure the entries are unchanged.
///
/// # Safety
/// The object must be a Map or Dict that nothing else uses now, except that key hooks may use it.
#[inline]
pub(crate) unsafe fn insert(object: &ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller guarantees the object and excludes other users.
    unsafe {
        let entry = loop {
            match Table::of(object).find_or_add(&key.view())? {
                Some(entry) => break entry,
                None => grow(object)?,
            }
        };
        entry.fill(key, value);
    }
    Ok(())
}

/// Moves all entries to larger storage, chosen as upstream does: a larger block in the small
/// layout, or a dense table.
///
/// # Errors
/// Errors of [`LargerStorage::of`].
///
/// # Safety
/// The object must be a Map or Dict that nothing else uses now, except that key hooks may use it.
pub(crate) unsafe fn grow(object: &ObjectRef) -> Result<()> {
    // SAFETY: the caller excludes other users.
    unsafe { LargerStorage::of(Table::of(object))?.switch(object) }
    Ok(())
}

/// Larger storage with bitwise copies of all entries of a table. The table still owns the entries.
pub(crate) enum LargerStorage {
    /// A block of the small layout, with its capacity.
    Small(*mut c_void, usize),
    Dense(TableFields),
}

impl LargerStorage {
    /// Allocates and fills the storage. Key hooks run.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if a hook changed the table; MemoryError.
    pub(crate) fn of(table: Table<'_>) -> Result<Self> {
        if let Table::Small(small) = table
            && let Some(capacity) = small.larger()
        {
            return Ok(Self::Small(small_block(table, capacity)?, capacity));
        }
        larger_dense(table).map(Self::Dense)
    }

    /// Gives the storage to the table, which releases its old storage. Runs no user callback.
    ///
    /// # Safety
    /// The object must have the table, unchanged, and nothing else may use it now.
    pub(crate) unsafe fn switch(self, object: &ObjectRef) {
        let this = mem::ManuallyDrop::new(self);
        // SAFETY: the caller excludes other users; the entries are in the new storage.
        unsafe {
            let table = Table::of(object);
            match (&*this, table) {
                (Self::Small(block, capacity), Table::Small(small)) => {
                    small.switch_block(*block, *capacity)
                }
                (Self::Small(..), Table::Dense(_)) => {}
                (Self::Dense(fields), table) => {
                    table.release_storage();
                    TableFields::switch(table.fields(), *fields);
                }
            }
        }
    }
}

/// Frees storage that was not moved to the table, which still owns the entries.
impl Drop for LargerStorage {
    fn drop(&mut self) {
        // SAFETY: the storage has no other reference.
        unsafe {
            match self {
                Self::Small(block, _) => storage::release_block(*block),
                Self::Dense(fields) => Dense::at(fields).forget_entries(),
            }
        }
    }
}

/// Allocates a block for `capacity` entries, and copies all entries of `table` bitwise to its
/// start.
fn small_block(table: Table<'_>, capacity: usize) -> Result<*mut c_void> {
    let bytes = storage::block_bytes(capacity, small::ENTRY_BYTES)?;
    let block = storage::allocate_block(bytes)?.as_ptr();
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

/// Allocates a larger dense table with bitwise copies of all entries. Both tables then own the
/// entries, until the caller forgets those of one table.
fn larger_dense(table: Table<'_>) -> Result<TableFields> {
    let mut slots = match table {
        Table::Small(small) => (2 * small.len()).next_power_of_two(),
        Table::Dense(dense) => 2 * dense.slots(),
    }
    .max(LEAST_SLOTS);
    let mut hashes = Hashes::OfKeys;
    loop {
        let mut fields = Dense::allocate(slots)?;
        // SAFETY: the fields are those of a table without other references.
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

/// Outcome of filling a table.
enum Filled {
    All,
    /// An entry found no slot.
    Partly,
    /// The hash of a key requires a registered hook, which has not been called.
    NeedsHooks,
}

/// Prefetch distance in entries, from hashing a key to adding its entry.
const PREFETCH_DISTANCE: usize = if prefetch::GIVEN { 8 } else { 2 };

/// Copies all entries bitwise to a new table.
fn fill(source: Table<'_>, target: Dense<'_>, hashes: &Hashes) -> Result<Filled> {
    let mut hashed = [const { None }; PREFETCH_DISTANCE];
    let mut entries = source.entries();
    for number in 0..source.len() + PREFETCH_DISTANCE {
        let next = match entries.next() {
            Some(entry) => {
                let Some(hash) = hashes.get(number, entry)? else { return Ok(Filled::NeedsHooks) };
                target.prefetch_home(hash);
                Some((entry, hash))
            }
            None => None,
        };
        let Some((entry, hash)) = mem::replace(&mut hashed[number % PREFETCH_DISTANCE], next)
        else {
            continue;
        };
        // SAFETY: the target is ours alone, and keys of one table differ; no user callback runs
        // here.
        let Some(cells) = (unsafe { target.add(hash) }) else { return Ok(Filled::Partly) };
        // SAFETY: the cells are new; one of the two tables will be forgotten.
        unsafe { cells.move_from(entry) }
    }
    Ok(Filled::All)
}

/// Source of the hashes of all keys of a table.
enum Hashes {
    /// Computed on demand from keys that have no hash hook.
    OfKeys,
    /// Computed beforehand, and stored with the keys. A hook may change the table, which must not
    /// happen while two tables own the entries.
    ByHooks(Buffer<(Any, u64)>),
}

impl Hashes {
    fn by_hooks(table: Table<'_>) -> Result<Self> {
        let mut keys = Buffer::try_with_capacity(table.len())?;
        for entry in table.entries() {
            // SAFETY: the entry is in the table; the copy keeps the key alive whatever the hook
            // does.
            let key = unsafe { entry.copy_key() };
            let hash = hash_unchanged(table, &key)?;
            keys.try_push((key, hash))?;
        }
        Ok(Self::ByHooks(keys))
    }

    /// Returns the hash of the key of an entry; `None` if a registered hook must be called.
    fn get(&self, number: usize, entry: Entry) -> Result<Option<u64>> {
        // SAFETY: the entry is in a table that nobody changes now.
        let key = unsafe { entry.key_view() };
        match self {
            Self::OfKeys if key::has_hash_hook(key.type_index()) => Ok(None),
            Self::OfKeys => key::hash(key).map(Some),
            Self::ByHooks(keys) => match keys.get(number) {
                Some((known, hash)) if key::same_words(known.as_raw(), key.as_raw()) => {
                    Ok(Some(*hash))
                }
                _ => Err(changed()),
            },
        }
    }
}

/// Returns the hash of a key, computed by its hook.
///
/// # Errors
/// Errors of the hook; RuntimeError if the hook changed the table, possibly to the other layout.
fn hash_unchanged(table: Table<'_>, key: &Any) -> Result<u64> {
    let fields = table.fields();
    // SAFETY: the table is alive.
    let mark = || unsafe { TableMark::of(fields) };
    let before = mark();
    let hash = key::hash(&key.view())?;
    if mark() == before { Ok(hash) } else { Err(changed()) }
}

#[cold]
fn changed() -> Error {
    plain_error!(RUNTIME_ERROR, "The map was changed while its keys were hashed")
}

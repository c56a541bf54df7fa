//! Accesses of a Dict by key. A key is hashed without a borrow, if its type may have hooks; key
//! hooks that compare run under a shared borrow, which a change converts to an exclusive one when
//! they have run. What a change removes is released after the borrow.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::{BriefShared, Exclusive, Shared};
use ferrite_core::value::any::{Any, AnyView};

use crate::containers::key;
use crate::containers::table::{LargerStorage, Table};

/// Borrows a dict for a lookup. Also returns the hash of the key, which is only valid for a dense
/// table.
///
/// # Errors
/// Errors of the hash hook; RuntimeError if another thread is changing the dict.
///
/// # Safety
/// `dict` must be a Dict.
unsafe fn read_hashed<'a>(
    dict: &'a ObjectRef,
    key: &AnyView<'_>,
) -> Result<(Shared<&'a ObjectRef>, u64)> {
    let mut hash = None;
    loop {
        let reading = Shared::of(dict)?;
        // SAFETY: the caller guarantees the class; the dict is borrowed.
        let is_dense = matches!(unsafe { Table::of(dict) }, Table::Dense(_));
        match hash {
            _ if !is_dense => return Ok((reading, 0)),
            Some(hash) => return Ok((reading, hash)),
            // The hook may change the dict.
            None => {
                drop(reading);
                hash = Some(key::hash(key)?);
            }
        }
    }
}

/// Returns an owned copy of the value of a key, which must have the representation of an owned
/// value; `None` if the key is not present.
///
/// # Errors
/// Errors of key hooks; RuntimeError if another thread is changing the dict, or a hook changed it.
///
/// # Safety
/// `dict` must be a Dict.
#[inline]
pub(in crate::containers) unsafe fn get(
    dict: &ObjectRef,
    key: &AnyView<'_>,
) -> Result<Option<Any>> {
    if key::may_call_hooks(key) {
        // SAFETY: guaranteed by the caller.
        return unsafe { get_hooked(dict, key) };
    }
    // SAFETY: the caller guarantees the class; no hook runs, and the borrow excludes writers.
    unsafe {
        let _borrow = BriefShared::of(dict)?;
        Ok(Table::of(dict).find_entry(key)?.map(|entry| entry.copy_value()))
    }
}

/// [`get`] for a key whose type may have hooks.
///
/// # Errors
/// Errors of [`get`].
///
/// # Safety
/// Same requirements as [`get`].
#[inline(never)]
unsafe fn get_hooked(dict: &ObjectRef, key: &AnyView<'_>) -> Result<Option<Any>> {
    // SAFETY: the caller guarantees the class; the borrow excludes writers.
    unsafe {
        if Table::len_now(dict) == 0 {
            return Ok(None);
        }
        let (_borrow, hash) = read_hashed(dict, key)?;
        let slot = Table::of(dict).find_hashed(key, hash)?.slot;
        Ok(Table::of(dict).entry(slot).map(|entry| entry.copy_value()))
    }
}

/// Sets the value of a key.
///
/// # Errors
/// Errors of key hooks; RuntimeError if another thread is using the dict, or a hook changed it;
/// MemoryError. On failure the entries are unchanged.
///
/// # Safety
/// `dict` must be a Dict.
#[inline]
pub(super) unsafe fn insert(dict: &ObjectRef, key: Any, value: Any) -> Result<()> {
    if !key::may_call_hooks(key.as_view()) {
        let borrow = Exclusive::of(dict)?;
        // SAFETY: the caller guarantees the class; the dict is borrowed, and no hook runs.
        unsafe {
            if let Some(entry) = Table::of(dict).find_or_add(key.as_view())? {
                let replaced = entry.put(key, value);
                drop(borrow);
                drop(replaced);
                return Ok(());
            }
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe { insert_or_grow(dict, key, value) }
}

/// Sets the value of a key whose type may have hooks, or for which the dict must grow. Growing may
/// call the hooks of other keys.
///
/// # Errors
/// Errors of [`insert`].
///
/// # Safety
/// Same requirements as [`insert`].
#[inline(never)]
unsafe fn insert_or_grow(dict: &ObjectRef, key: Any, value: Any) -> Result<()> {
    loop {
        // SAFETY: the caller guarantees the class; between a lookup and its change, the dict is
        // always borrowed.
        unsafe {
            let (reading, hash) = read_hashed(dict, key.as_view())?;
            let place = Table::of(dict).find_hashed(key.as_view(), hash)?;
            let writing = reading.upgrade()?;
            if let Some(entry) = Table::of(dict).present_or_add(place) {
                let replaced = entry.put(key, value);
                drop(writing);
                drop(replaced);
                return Ok(());
            }
            let reading = writing.downgrade();
            let larger = LargerStorage::of(Table::of(dict))?;
            let _writing = reading.upgrade()?;
            larger.switch(dict);
        }
    }
}

/// Removes the entry of a key, which must have the representation of an owned value. Returns its
/// key and value; `None` if there is none.
///
/// # Errors
/// Errors of key hooks; RuntimeError if another thread is using the dict, or a hook changed it.
///
/// # Safety
/// `dict` must be a Dict.
pub(in crate::containers) unsafe fn remove(
    dict: &ObjectRef,
    key: &AnyView<'_>,
) -> Result<Option<(Any, Any)>> {
    // SAFETY: the caller guarantees the class; the dict is borrowed from the lookup to the change.
    unsafe {
        if !key::may_call_hooks(key) {
            let _borrow = Exclusive::of(dict)?;
            let slot = Table::of(dict).find(key)?;
            return Ok(Table::of(dict).remove(slot));
        }
        if Table::len_now(dict) == 0 {
            return Ok(None);
        }
        let (reading, hash) = read_hashed(dict, key)?;
        let slot = Table::of(dict).find_hashed(key, hash)?.slot;
        if Table::of(dict).entry(slot).is_none() {
            return Ok(None);
        }
        let _borrow = reading.upgrade()?;
        Ok(Table::of(dict).remove(slot))
    }
}

/// Removes the first entry in order. Returns its key and value; `None` if the dict is empty.
///
/// # Errors
/// RuntimeError if another thread is using the dict.
///
/// # Safety
/// `dict` must be a Dict.
pub(super) unsafe fn remove_first(dict: &ObjectRef) -> Result<Option<(Any, Any)>> {
    let _borrow = Exclusive::of(dict)?;
    // SAFETY: the caller guarantees the class; the dict is borrowed.
    Ok(unsafe { Table::of(dict).remove(Table::of(dict).head()) })
}

//! An entry of a table in memory, and the comparison of its key with another key.

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::{Error, Result};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{plain_bail, plain_error};

use super::layout::{TableFields, TableMark};
use crate::containers::{cell, key};

/// The two adjacent cells of an entry: its key, followed by its value.
#[derive(Clone, Copy)]
pub(crate) struct Entry(NonNull<TVMFFIAny>);

impl Entry {
    /// Creates the entry whose key cell is at `key`.
    ///
    /// # Safety
    /// `key` must point to two adjacent cells, for key and value.
    #[inline]
    pub(crate) unsafe fn at(key: *mut TVMFFIAny) -> Self {
        // SAFETY: the address of a cell is not null.
        Self(unsafe { NonNull::new_unchecked(key) })
    }

    /// Returns the address of the key cell.
    #[inline]
    pub(crate) fn key(self) -> *mut TVMFFIAny {
        self.0.as_ptr()
    }

    /// Returns the address of the value cell.
    #[inline]
    pub(crate) fn value(self) -> *mut TVMFFIAny {
        // SAFETY: the caller of `at` guarantees two cells.
        unsafe { self.0.add(1).as_ptr() }
    }

    /// Returns a view of the key, in place.
    ///
    /// # Safety
    /// The entry must not change for `'a`.
    #[inline]
    pub(crate) unsafe fn key_view<'a>(self) -> &'a AnyView<'a> {
        // SAFETY: the cell is initialised; the caller excludes writers.
        unsafe { AnyView::in_place(&*self.key()) }
    }

    /// Returns a view of the value, in place.
    ///
    /// # Safety
    /// Same requirements as [`key_view`](Self::key_view).
    #[inline]
    pub(crate) unsafe fn value_view<'a>(self) -> &'a AnyView<'a> {
        // SAFETY: the cell is initialised; the caller excludes writers.
        unsafe { AnyView::in_place(&*self.value()) }
    }

    /// Returns references to key and value.
    ///
    /// # Safety
    /// The entry must be in a table that does not change for `'a`.
    #[inline]
    pub(crate) unsafe fn references<'a>(self) -> (&'a Any, &'a Any) {
        // SAFETY: Any has the layout of a cell; the cells of an entry are initialised; the caller
        // excludes writers.
        unsafe { (&*self.key().cast::<Any>(), &*self.value().cast::<Any>()) }
    }

    /// Returns a reference to key and value as one array.
    ///
    /// # Safety
    /// Same requirements as [`references`](Self::references).
    #[inline]
    pub(crate) unsafe fn pair<'a>(self) -> &'a [Any; 2] {
        // SAFETY: as for `references`; the value follows the key.
        unsafe { &*self.key().cast::<[Any; 2]>() }
    }

    /// Returns owned copies of key and value.
    ///
    /// # Safety
    /// The entry must be in a table that does not change during the call.
    pub(crate) unsafe fn copy(self) -> (Any, Any) {
        // SAFETY: the cells of an entry are initialised.
        unsafe { (cell::copy_of(self.key()), cell::copy_of(self.value())) }
    }

    /// Returns an owned copy of the key.
    ///
    /// # Safety
    /// Same requirements as [`copy`](Self::copy).
    #[inline]
    pub(crate) unsafe fn copy_key(self) -> Any {
        // SAFETY: the cells of an entry are initialised.
        unsafe { cell::copy_of(self.key()) }
    }

    /// Returns an owned copy of the value.
    ///
    /// # Safety
    /// Same requirements as [`copy`](Self::copy).
    #[inline]
    pub(crate) unsafe fn copy_value(self) -> Any {
        // SAFETY: the cells of an entry are initialised.
        unsafe { cell::copy_of(self.value()) }
    }

    /// Moves key and value out of the cells.
    ///
    /// # Safety
    /// The caller must remove the entry from its table.
    pub(crate) unsafe fn take(self) -> (Any, Any) {
        // SAFETY: the cells of an entry are initialised.
        unsafe { (cell::take(self.key()), cell::take(self.value())) }
    }

    /// Copies `other` bitwise into unused cells.
    ///
    /// # Safety
    /// The cells must not be in use. The caller must forget one of the two entries.
    pub(crate) unsafe fn move_from(self, other: Entry) {
        // SAFETY: the cells of `other` are initialised, and ours may be written.
        unsafe {
            self.key().write(other.key().read());
            self.value().write(other.value().read());
        }
    }

    /// Writes a new key and value into unused cells.
    ///
    /// # Safety
    /// The cells must not be in use.
    pub(crate) unsafe fn write(self, key: Any, value: Any) {
        // SAFETY: the cells may be written.
        unsafe {
            self.key().write(key.into_raw());
            self.value().write(value.into_raw());
        }
    }

    /// Replaces the value. Returns the old one.
    ///
    /// # Safety
    /// The entry must be in a table that nothing else uses.
    pub(crate) unsafe fn replace_value(self, value: Any) -> Any {
        // SAFETY: the cells of an entry are initialised.
        unsafe {
            let old = cell::take(self.value());
            self.value().write(value.into_raw());
            old
        }
    }
}

/// Entry for a key in a table, either existing or new.
pub(crate) enum KeyEntry {
    /// An existing entry, whose key equals the key.
    Present(Entry),
    /// The cells of a new entry. The caller must write them before any other operation.
    New(Entry),
}

impl KeyEntry {
    /// Sets the value, and the key of a new entry. Releases the replaced value.
    ///
    /// # Safety
    /// The entry must have just been found or created, and nothing else may use the table now.
    #[inline]
    pub(crate) unsafe fn fill(self, key: Any, value: Any) {
        // SAFETY: guaranteed by the caller. The table is complete when values are released, which
        // may run user callbacks.
        drop(unsafe { self.put(key, value) });
    }

    /// Sets the value, and the key of a new entry. Returns the values that the table does not
    /// store: for an existing entry, the second key and the replaced value.
    ///
    /// # Safety
    /// Same requirements as [`fill`](Self::fill).
    #[inline]
    pub(crate) unsafe fn put(self, key: Any, value: Any) -> Option<(Any, Any)> {
        // SAFETY: the cells of a present entry are initialised, those of a new one may be written.
        unsafe {
            match self {
                Self::Present(entry) => Some((key, entry.replace_value(value))),
                Self::New(entry) => {
                    entry.write(key, value);
                    None
                }
            }
        }
    }
}

/// Returns `true` if the key of an entry equals `key`.
///
/// `still_there` is called after a hook that left data address, size and number of slots unchanged.
/// It returns whether the entry is still in use.
///
/// # Errors
/// Errors of the equality hook; RuntimeError if the hook changed the table.
///
/// # Safety
/// `fields` must belong to a live table that contains `entry`.
#[inline]
pub(crate) unsafe fn entry_has_key(
    fields: *const TableFields,
    entry: Entry,
    key: &AnyView<'_>,
    still_there: impl Fn() -> bool,
) -> Result<bool> {
    // SAFETY: the key cell is initialised, and no user callback runs while the view is in use.
    match key::equal_inline(unsafe { entry.key_view() }, key) {
        Some(answer) => Ok(answer),
        // SAFETY: guaranteed by the caller.
        None => unsafe { entry_has_key_slowly(fields, entry, key, &still_there) },
    }
}

/// General case of [`entry_has_key`]: returns `true` if the keys are equal by content or by a hook.
///
/// # Safety
/// Same requirements as [`entry_has_key`].
#[cold]
#[inline(never)]
unsafe fn entry_has_key_slowly(
    fields: *const TableFields,
    entry: Entry,
    key: &AnyView<'_>,
    still_there: &dyn Fn() -> bool,
) -> Result<bool> {
    // SAFETY: as there.
    if let Some(answer) = key::equal_without_hook(unsafe { entry.key_view() }, key) {
        return Ok(answer);
    }
    // SAFETY: the key cell is initialised; the hook gets a copy, which stays alive whatever it does
    // to the table.
    let (mark, own) = unsafe { (TableMark::of(fields), cell::copy_of(entry.key())) };
    let answer = key::equal_by_hook(own.view(), *key)?;
    // SAFETY: the table's object is alive; its storage is only looked at when it is the same as
    // before.
    let unchanged = unsafe {
        TableMark::of(fields) == mark
            && still_there()
            && key::same_words(&entry.key().read(), own.as_raw())
    };
    if !unchanged {
        plain_bail!(RUNTIME_ERROR, "The map was changed while its keys were compared");
    }
    Ok(answer)
}

/// Returns the KeyError for a key that is not present.
#[cold]
pub(crate) fn missing_key() -> Error {
    plain_error!(KEY_ERROR, "key is not in Map")
}

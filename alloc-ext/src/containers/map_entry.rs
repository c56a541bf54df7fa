//! One entry of a map in memory, and its comparison with a key.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_bail, plain_error};

use super::cell;
use super::key;
use super::map_base::TableFields;

/// The two cells of one entry: the key, and behind it the value.
#[derive(Clone, Copy)]
pub(super) struct Entry(NonNull<TVMFFIAny>);

impl Entry {
    /// The entry whose key cell is at `key`.
    ///
    /// # Safety
    /// Two cells are there, for key and value.
    #[inline]
    pub(super) unsafe fn at(key: *mut TVMFFIAny) -> Self {
        // SAFETY: where there are cells, there is an address.
        Self(unsafe { NonNull::new_unchecked(key) })
    }

    /// The cell of the key.
    #[inline]
    pub(super) fn key(self) -> *mut TVMFFIAny {
        self.0.as_ptr()
    }

    /// The cell of the value.
    #[inline]
    pub(super) fn value(self) -> *mut TVMFFIAny {
        // SAFETY: `at` was promised two cells.
        unsafe { self.0.add(1).as_ptr() }
    }

    /// References to the cells.
    ///
    /// # Safety
    /// The entry is in a table that does not change for `'a`.
    #[inline]
    pub(super) unsafe fn references<'a>(self) -> (&'a Any, &'a Any) {
        // SAFETY: Any has the layout of a cell; the cells of an entry are initialised; the caller excludes writers.
        unsafe { (&*self.key().cast::<Any>(), &*self.value().cast::<Any>()) }
    }

    /// Both cells, side by side.
    ///
    /// # Safety
    /// As [`references`](Self::references).
    #[inline]
    pub(super) unsafe fn pair<'a>(self) -> &'a [Any; 2] {
        // SAFETY: as for `references`; the value follows the key.
        unsafe { &*self.key().cast::<[Any; 2]>() }
    }

    /// Own copies of key and value.
    ///
    /// # Safety
    /// The entry is in a table that nobody changes during the call.
    pub(super) unsafe fn copy(self) -> (Any, Any) {
        // SAFETY: the cells of an entry are initialised.
        unsafe { (cell::copy_of(self.key()), cell::copy_of(self.value())) }
    }

    /// An own copy of the key.
    ///
    /// # Safety
    /// As [`copy`](Self::copy).
    #[inline]
    pub(super) unsafe fn copy_key(self) -> Any {
        // SAFETY: the cells of an entry are initialised.
        unsafe { cell::copy_of(self.key()) }
    }

    /// An own copy of the value.
    ///
    /// # Safety
    /// As [`copy`](Self::copy).
    #[inline]
    pub(super) unsafe fn copy_value(self) -> Any {
        // SAFETY: the cells of an entry are initialised.
        unsafe { cell::copy_of(self.value()) }
    }

    /// Moves key and value out.
    ///
    /// # Safety
    /// The caller takes the entry off its table.
    pub(super) unsafe fn take(self) -> (Any, Any) {
        // SAFETY: the cells of an entry are initialised.
        unsafe { (cell::take(self.key()), cell::take(self.value())) }
    }

    /// Puts copies of the words of `other` here, in place of nothing.
    ///
    /// # Safety
    /// The cells are not in use; one of the two entries will be forgotten.
    pub(super) unsafe fn move_from(self, other: Entry) {
        // SAFETY: the cells of `other` are initialised, and ours may be written.
        unsafe {
            self.key().write(other.key().read());
            self.value().write(other.value().read());
        }
    }

    /// Puts a new key and value here, in place of nothing.
    ///
    /// # Safety
    /// The cells are not in use.
    pub(super) unsafe fn write(self, key: Any, value: Any) {
        // SAFETY: the cells may be written.
        unsafe {
            self.key().write(key.into_raw());
            self.value().write(value.into_raw());
        }
    }

    /// Replaces the value and gives back the old one.
    ///
    /// # Safety
    /// The entry is in a table that nobody else uses.
    pub(super) unsafe fn replace_value(self, value: Any) -> Any {
        // SAFETY: the cells of an entry are initialised.
        unsafe {
            let old = cell::take(self.value());
            self.value().write(value.into_raw());
            old
        }
    }
}

/// What a table is known by, to notice that a key hook changed it.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Mark {
    data: *mut c_void,
    size: u64,
    slots: u64,
}

impl Mark {
    /// # Safety
    /// `fields` are those of a live table.
    #[inline]
    pub(super) unsafe fn of(fields: *const TableFields) -> Self {
        // SAFETY: both layouts have these fields.
        unsafe { Self { data: (*fields).data, size: (*fields).size, slots: (*fields).slots } }
    }
}

/// Whether the key of an entry is `key`.
///
/// `still_there` tells, while data, size and slots are what they were, whether the entry is in use.
///
/// # Errors
/// What the equality hook raises; RuntimeError when it changed the table.
///
/// # Safety
/// `fields` are those of a live table, which has `entry`.
#[inline]
pub(super) unsafe fn entry_has_key(
    fields: *const TableFields,
    entry: Entry,
    key: &AnyView<'_>,
    still_there: impl Fn() -> bool,
) -> Result<bool> {
    // SAFETY: the key cell is initialised, and no foreign code runs while the view is in use.
    match key::equal_at_once(unsafe { cell::borrow(entry.key()) }, key) {
        Some(answer) => Ok(answer),
        // SAFETY: passed on.
        None => unsafe { entry_has_key_slowly(fields, entry, key, &still_there) },
    }
}

/// # Safety
/// As [`entry_has_key`].
#[cold]
#[inline(never)]
unsafe fn entry_has_key_slowly(
    fields: *const TableFields,
    entry: Entry,
    key: &AnyView<'_>,
    still_there: &dyn Fn() -> bool,
) -> Result<bool> {
    // SAFETY: as there.
    if let Some(answer) = key::equal_without_hook(unsafe { cell::borrow(entry.key()) }, key) {
        return Ok(answer);
    }
    // SAFETY: the key cell is initialised; the hook gets a copy, which stays alive whatever it does to the table.
    let (mark, own) = unsafe { (Mark::of(fields), cell::copy_of(entry.key())) };
    let answer = key::equal_by_hook(own.view(), *key)?;
    // SAFETY: the table's object is alive; its storage is only looked at when it is the same as before.
    let unchanged = unsafe {
        Mark::of(fields) == mark && still_there() && cell::same_words(&entry.key().read(), own.as_raw())
    };
    if !unchanged {
        plain_bail!(RUNTIME_ERROR, "The map was changed while its keys were compared");
    }
    Ok(answer)
}

/// The error of a lookup that must find an entry.
#[cold]
pub(crate) fn missing_key() -> Error {
    plain_error!(KEY_ERROR, "key is not in Map")
}

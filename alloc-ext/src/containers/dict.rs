//! The map that all its holders change in place; it keeps the order of insertion.

use core::marker::PhantomData;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::object_alloc::Apart;
use ferrite_core::{object_class, type_index};

use super::cell;
use super::map::{MapObject, missing_key};
use super::map_base;
use super::map_in_place;
use super::map_table::Table;

object_class!(
    /// A reference to a dict object of any keys and values: what signatures call `ffi.Dict`.
    ///
    /// All references see every change; growth switches the storage, and with it the layout, inside the object. Keys are
    /// compared as [`key`](super::key) says. The order of entries is that of a [`MapObject`](super::MapObject).
    ///
    /// Threads: a dict is not synchronised. While one thread changes it, no other may use it; the holders see to that.
    ///
    /// # Upstream
    ///
    /// `DictObj` in `include/tvm/ffi/container/dict.h`.
    pub struct DictObject, type_index::DICT, "ffi.Dict"
);

impl DictObject {
    /// Creates an empty dict in the layout that suits `expected` entries.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        map_base::allocate_for(type_index::DICT, expected, &mut Apart).map(Self)
    }

    fn table(&self) -> Table<'_> {
        // SAFETY: this type only holds dicts.
        unsafe { Table::of(&self.0) }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`, or None.
    ///
    /// # Errors
    ///
    /// What key hooks raise; RuntimeError when one changed the dict; MemoryError for a raw string whose copy finds no
    /// memory.
    pub fn get(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // Goes last: the end of a key that was taken over may run foreign code, which may change the dict.
        let owned = cell::owned_form(&key)?;
        let entry = self.table().find_entry(&owned.as_ref().map_or(key, Any::view))?;
        // SAFETY: one thread at a time uses the dict, and no foreign code runs before the value is copied.
        Ok(entry.map(|entry| unsafe { entry.copy_value() }))
    }

    /// The value of `key`.
    ///
    /// # Errors
    ///
    /// KeyError when the key is not there; else as [`get`](Self::get).
    pub fn at(&self, key: AnyView<'_>) -> Result<Any> {
        self.get(key)?.ok_or_else(missing_key)
    }

    /// Whether `key` is there.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn contains(&self, key: AnyView<'_>) -> Result<bool> {
        Ok(self.table().find_entry_of_any(&key)?.is_some())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); MemoryError when the dict must grow. The entries are unchanged then.
    pub fn insert(&self, key: Any, value: Any) -> Result<()> {
        // SAFETY: one thread at a time uses the dict.
        unsafe { map_in_place::insert(&self.0, key, value) }
    }

    /// Removes the entry of a key and returns its value, if it was there.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn remove(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // An owned form of the key lives until the entry is gone: its end may run code of users.
        let owned = cell::owned_form(&key)?;
        let place = self.table().find(&owned.as_ref().map_or(key, Any::view))?;
        // SAFETY: one thread at a time uses the dict.
        Ok(unsafe { self.table().remove(place) })
    }

    /// Removes all entries; the storage stays.
    ///
    /// What the release of an entry runs may change the dict again; it finds it whole.
    pub fn clear(&self) {
        for _ in 0..self.len() {
            let Some(place) = self.table().first() else { return };
            // SAFETY: one thread at a time uses the dict.
            drop(unsafe { self.table().remove(place) });
        }
    }

    /// The entries in order, as references of their own. Entries that come or go meanwhile may or may not be seen.
    pub fn iter(&self) -> DictEntries {
        DictEntries { dict: self.clone(), next: self.first_place() }
    }

    /// The place of the first entry in order.
    pub(crate) fn first_place(&self) -> Option<u64> {
        self.table().first().map(|place| place as u64)
    }

    /// The place of the entry after the one at `place`, if there are both.
    pub(crate) fn next_place(&self, place: u64) -> Option<u64> {
        self.table().next(place as usize).map(|place| place as u64)
    }

    /// Own copies of key and value at `place`, if an entry is there.
    pub(crate) fn entry_at(&self, place: u64) -> Option<(Any, Any)> {
        // SAFETY: one thread at a time uses the dict, and no foreign code runs while the cells are copied.
        self.table().entry(place as usize).map(|entry| unsafe { entry.copy() })
    }

    /// Key and value at `place`, if an entry is there, as they lie in memory.
    ///
    /// # Safety
    ///
    /// Nobody changes the dict while they are in use.
    #[inline]
    pub(crate) unsafe fn entry_refs(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the entry is in this dict; the caller excludes writers.
        self.table().entry(place as usize).map(|entry| unsafe { entry.references() })
    }

    /// A new dict with the same entries in the same places.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn copy(&self) -> Result<Self> {
        map_base::copy_object(type_index::DICT, self.table()).map(Self)
    }

    /// A dict with the entries of a map, in the same places.
    pub(crate) fn copy_of(map: &MapObject) -> Result<Self> {
        map_base::copy_object(type_index::DICT, map.table()).map(Self)
    }
}

/// The entries of a [`DictObject`] in order; holds the dict.
pub struct DictEntries {
    dict: DictObject,
    next: Option<u64>,
}

impl Iterator for DictEntries {
    type Item = (Any, Any);

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.next?;
        let entry = self.dict.entry_at(place)?;
        self.next = self.dict.next_place(place);
        Some(entry)
    }
}

/// A reference to a dict whose keys convert to `K` and values to `V`.
///
/// Cloning shares the object, and every holder sees every change: methods that change it take `&self`.
///
/// Threads: not synchronised, see [`DictObject`].
///
/// # Examples
///
/// ```
/// use ferrite_alloc_ext::containers::Dict;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let dict = Dict::<i64, i64>::new()?;
/// let other = dict.clone();
/// other.insert(1, 10)?;
/// assert_eq!(dict.get(&1)?, Some(10));
/// assert_eq!(dict.at(&2).unwrap_err().kind(), b"KeyError");
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
///
/// `Dict<K, V>` in `include/tvm/ffi/container/dict.h`.
#[repr(transparent)]
pub struct Dict<K = Any, V = Any> {
    object: DictObject,
    entry: PhantomData<(K, V)>,
}

impl<K: AnyCompatible + 'static, V: AnyCompatible + 'static> Dict<K, V> {
    /// Creates an empty dict.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn new() -> Result<Self> {
        Self::with_capacity(0)
    }

    /// Creates an empty dict in the layout that suits `expected` entries.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        DictObject::with_capacity(expected).map(Self::from_object_unchecked)
    }

    /// Creates a dict of the entries that `entries` yields; the last value of a key stays.
    ///
    /// # Errors
    ///
    /// What key hooks raise; MemoryError.
    #[expect(clippy::should_implement_trait, reason = "creation can fail, which FromIterator cannot say")]
    pub fn from_iter(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries.into_iter();
        let dict = Self::with_capacity(entries.size_hint().0)?;
        for (key, value) in entries {
            dict.insert(key, value)?;
        }
        Ok(dict)
    }

    /// Takes a dict whose entries the caller knows to be of these types; others give a TypeError when they are read.
    pub fn from_object_unchecked(object: DictObject) -> Self {
        Self { object, entry: PhantomData }
    }

    /// The same dict without its types.
    pub fn as_untyped(&self) -> &DictObject {
        &self.object
    }

    /// The same dict without its types.
    pub fn into_untyped(self) -> DictObject {
        self.object
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.object.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.object.is_empty()
    }

    /// The value of `key`, or None.
    ///
    /// # Errors
    ///
    /// What key hooks raise; RuntimeError when one changed the dict; TypeError when another holder put a value of another
    /// type there; MemoryError.
    pub fn get(&self, key: &K) -> Result<Option<V>> {
        self.object.get(key.view())?.map(|value| value.get()).transpose()
    }

    /// The value of `key`.
    ///
    /// # Errors
    ///
    /// KeyError when the key is not there; else as [`get`](Self::get).
    pub fn at(&self, key: &K) -> Result<V> {
        self.object.at(key.view())?.get()
    }

    /// Whether `key` is there.
    ///
    /// # Errors
    ///
    /// What key hooks raise; RuntimeError when one changed the dict.
    pub fn contains(&self, key: &K) -> Result<bool> {
        self.object.contains(key.view())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// What key hooks raise; MemoryError. The entries are unchanged then.
    pub fn insert(&self, key: K, value: V) -> Result<()> {
        self.object.insert(key.into_any(), value.into_any())
    }

    /// Removes the entry of a key and returns its value, if it was there.
    ///
    /// # Errors
    ///
    /// What key hooks raise; RuntimeError when one changed the dict.
    pub fn remove(&self, key: &K) -> Result<Option<Any>> {
        self.object.remove(key.view())
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.object.clear();
    }

    /// The entries in order. Entries that come or go meanwhile may or may not be seen.
    pub fn iter(&self) -> DictIter<K, V> {
        DictIter { entries: self.object.iter(), entry: PhantomData }
    }
}

impl<K, V> Clone for Dict<K, V> {
    fn clone(&self) -> Self {
        Self { object: self.object.clone(), entry: PhantomData }
    }
}

impl<K, V> core::fmt::Debug for Dict<K, V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.object.iter()).finish()
    }
}

impl<K, V> From<Dict<K, V>> for ObjectRef {
    fn from(dict: Dict<K, V>) -> Self {
        dict.object.into_object()
    }
}

impl<K: AnyCompatible + 'static, V: AnyCompatible + 'static> IntoIterator for &Dict<K, V> {
    type Item = Result<(K, V)>;
    type IntoIter = DictIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The entries of a [`Dict`], converted one by one; holds the dict.
pub struct DictIter<K, V> {
    entries: DictEntries,
    entry: PhantomData<(K, V)>,
}

impl<K: AnyCompatible, V: AnyCompatible> Iterator for DictIter<K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.entries.next()?;
        Some(key.get().and_then(|key| Ok((key, value.get()?))))
    }
}

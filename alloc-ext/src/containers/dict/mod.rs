//! Typed mutable map, changed in place through all references.

pub(super) mod access;
mod object;

use core::marker::PhantomData;

use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::{KeyOf, Value};

use super::key::look_up;
use super::typed::typed_container;
pub use object::{DictEntries, DictObject};

/// A reference to a dict whose keys convert to `K` and values to `V`.
///
/// Cloning shares the object, and all references see every change. Methods that change the dict
/// take `&self`.
///
/// Threads: an access that conflicts with that of another thread is a RuntimeError, see
/// [`DictObject`].
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Dict;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let dict = Dict::<i64, i64>::new()?;
/// let other = dict.clone();
/// other.insert(1, 10)?;
/// assert_eq!(dict.get(&1)?, Some(10));
/// assert_eq!(dict.at(&2).unwrap_err().kind_bytes(), b"KeyError");
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `Dict<K, V>` in `include/tvm/ffi/container/dict.h`.
#[repr(transparent)]
pub struct Dict<K = Any, V = Any> {
    object: DictObject,
    types: PhantomData<(K, V)>,
}

impl<K: Value, V: Value> Dict<K, V> {
    /// Creates an empty dict.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new() -> Result<Self> {
        Self::with_capacity(0)
    }

    /// Creates an empty dict, in the layout that upstream chooses for `expected` entries.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        DictObject::with_capacity(expected).map(Self::from_object_unchecked)
    }

    /// Creates a dict from the entries of an iterator. The last value of a repeated key wins.
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError.
    pub fn try_from_iter(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries.into_iter();
        let dict = Self::with_capacity(entries.size_hint().0)?;
        for (key, value) in entries {
            dict.insert(key, value)?;
        }
        Ok(dict)
    }

    /// Returns the value of `key`, converted to `V`; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is changing the dict, or a hook changed
    /// it; TypeError if a value of another type was stored through another reference; MemoryError.
    pub fn get(&self, key: &(impl KeyOf<K> + ?Sized)) -> Result<Option<V>> {
        look_up(key, |key| self.object.get(key)?.map(Any::into_value).transpose())
    }

    /// Returns the value of `key`, converted to `V`.
    ///
    /// # Errors
    /// KeyError if the key is not present; errors of [`get`](Self::get).
    pub fn at(&self, key: &(impl KeyOf<K> + ?Sized)) -> Result<V> {
        look_up(key, |key| self.object.at(key)?.get())
    }

    /// Returns `true` if `key` is present.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is changing the dict, or a hook changed
    /// it; MemoryError if a raw string must be copied.
    pub fn contains(&self, key: &(impl KeyOf<K> + ?Sized)) -> Result<bool> {
        look_up(key, |key| self.object.contains(key))
    }

    /// Sets the value of a key.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::containers::Dict;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let counts: Dict<i64, i64> = Dict::new()?;
    /// let same = counts.clone();
    /// counts.insert(7, 1)?;
    /// assert_eq!(same.at(&7)?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is using the dict, or a hook changed it;
    /// MemoryError. On failure the entries are unchanged.
    pub fn insert(&self, key: K, value: V) -> Result<()> {
        self.object.insert(key.try_into_any()?, value.try_into_any()?)
    }

    /// Removes the entry of a key. Returns its value; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is using the dict, or a hook changed it;
    /// MemoryError if a raw string must be copied.
    pub fn remove(&self, key: &(impl KeyOf<K> + ?Sized)) -> Result<Option<Any>> {
        look_up(key, |key| self.object.remove(key))
    }

    /// Removes all entries, one by one.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the dict. Entries that were not yet removed stay.
    pub fn clear(&self) -> Result<()> {
        self.object.clear()
    }

    /// Returns an iterator over the entries in order. Entries added or removed during the iteration
    /// may or may not be returned. Each step borrows the dict anew: while another thread is
    /// changing it, the step is a RuntimeError, and the iteration ends.
    pub fn iter(&self) -> DictIter<K, V> {
        DictIter { entries: self.object.iter(), entry: PhantomData }
    }

    /// Returns an iterator over the keys in order. Changes during the iteration may or may not be
    /// seen, as with [`iter`](Self::iter).
    pub fn keys(&self) -> impl Iterator<Item = Result<K>> + use<K, V> {
        self.object.iter().map(|entry| entry?.0.get())
    }

    /// Returns an iterator over the values in order, with the rule of [`keys`](Self::keys).
    pub fn values(&self) -> impl Iterator<Item = Result<V>> + use<K, V> {
        self.object.iter().map(|entry| entry?.1.get())
    }
}

typed_container!(Dict<K, V>, DictObject);

impl<K, V> core::fmt::Debug for Dict<K, V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.object.iter().map_while(Result::ok)).finish()
    }
}

impl<K: Value, V: Value> IntoIterator for &Dict<K, V> {
    type Item = Result<(K, V)>;
    type IntoIter = DictIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over the entries of a [`Dict`], which it keeps alive. Converts each entry when it is
/// reached.
pub struct DictIter<K, V> {
    entries: DictEntries,
    entry: PhantomData<(K, V)>,
}

impl<K: Value, V: Value> Iterator for DictIter<K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        Some(entry.and_then(|(key, value)| Ok((key.get()?, value.get()?))))
    }
}

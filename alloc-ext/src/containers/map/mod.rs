//! Typed copy-on-write map.

mod object;

use core::marker::PhantomData;

use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::{KeyOf, Value};

use super::key::look_up;
use super::typed::typed_container;
pub use object::{MapEntries, MapObject};

/// A reference to a map whose keys convert to `K` and values to `V`.
///
/// Cloning shares the object. A change through one reference copies a shared map first, so other
/// references do not see it.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Map;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let mut map = Map::<i64, f64>::new()?;
/// map.insert(1, 0.5)?;
/// map.insert(2, 1.5)?;
/// assert_eq!(map.get(&2)?, Some(1.5));
/// assert_eq!(map.get(&3)?, None);
/// let keys: Result<Vec<_>, _> = map.iter().map(|entry| entry.map(|(key, _)| key)).collect();
/// assert_eq!(keys?, [1, 2]);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `Map<K, V>` in `include/tvm/ffi/container/map.h`.
#[repr(transparent)]
pub struct Map<K = Any, V = Any> {
    object: MapObject,
    types: PhantomData<(K, V)>,
}

impl<K: Value, V: Value> Map<K, V> {
    /// Creates an empty map.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new() -> Result<Self> {
        Self::with_capacity(0)
    }

    /// Creates an empty map, in the layout that upstream chooses for `expected` entries.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        MapObject::with_capacity(expected).map(Self::from_object_unchecked)
    }

    /// Creates a map from the entries of an iterator. The last value of a repeated key wins.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::containers::Map;
    /// use ferrite_core::String;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let ages = Map::try_from_iter([(String::new("ada")?, 36), (String::new("alan")?, 41)])?;
    /// assert_eq!((ages.len(), ages.get("ada")?, ages.get("grace")?), (2, Some(36), None));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError.
    pub fn try_from_iter(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries.into_iter();
        let mut map = Self::with_capacity(entries.size_hint().0)?;
        for (key, value) in entries {
            map.insert(key, value)?;
        }
        Ok(map)
    }

    /// Returns the value of `key`, converted to `V`; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; TypeError if C code stored a value of another type; MemoryError.
    pub fn get(&self, key: &(impl KeyOf<K> + ?Sized)) -> Result<Option<V>> {
        look_up(key, |key| self.object.get(key)?.map(Any::get).transpose())
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
    /// Errors of key hooks; MemoryError if a raw string must be copied.
    pub fn contains(&self, key: &(impl KeyOf<K> + ?Sized)) -> Result<bool> {
        look_up(key, |key| self.object.contains(key))
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError. On failure the entries are unchanged.
    pub fn insert(&mut self, key: K, value: V) -> Result<()> {
        self.object.insert(key.try_into_any()?, value.try_into_any()?)
    }

    /// Removes the entry of a key. Returns its value; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError if a shared map must be copied.
    pub fn remove(&mut self, key: &(impl KeyOf<K> + ?Sized)) -> Result<Option<Any>> {
        look_up(key, |key| self.object.remove(key))
    }

    /// Removes all entries.
    ///
    /// # Errors
    /// MemoryError if no empty map can be allocated.
    pub fn clear(&mut self) -> Result<()> {
        self.object.clear()
    }

    /// Returns an iterator over the entries in order.
    pub fn iter(&self) -> MapIter<'_, K, V> {
        MapIter { entries: self.object.iter(), entry: PhantomData }
    }

    /// Returns an iterator over the keys in order.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::containers::Map;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let stock: Map<String, i64> = [("apples", 2), ("pears", 3)].try_into()?;
    /// assert_eq!(stock.keys().collect::<ferrite_core::Result<Vec<_>>>()?, ["apples", "pears"]);
    /// assert_eq!(stock.values().sum::<ferrite_core::Result<i64>>()?, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn keys(&self) -> impl Iterator<Item = Result<K>> + '_ {
        self.object.iter().map(|(key, _)| key.get())
    }

    /// Returns an iterator over the values in order.
    pub fn values(&self) -> impl Iterator<Item = Result<V>> + '_ {
        self.object.iter().map(|(_, value)| value.get())
    }
}

typed_container!(Map<K, V>, MapObject);

impl<K, V> core::fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.object.iter()).finish()
    }
}

impl<'a, K: Value, V: Value> IntoIterator for &'a Map<K, V> {
    type Item = Result<(K, V)>;
    type IntoIter = MapIter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over the entries of a [`Map`]. Converts each entry when it is reached.
pub struct MapIter<'a, K, V> {
    entries: MapEntries<'a>,
    entry: PhantomData<(K, V)>,
}

impl<K: Value, V: Value> Iterator for MapIter<'_, K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.entries.next()?;
        Some(key.get().and_then(|key| Ok((key, value.get()?))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

//! Identity map: associates visited objects with values, by address.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::{AllocError, Buffer};
use ferrite_core::platform::words::GOLDEN_RATIO;
use ferrite_core::value::any::Any;

use super::maybe_owned::MaybeOwned;
use crate::hash_index::HashIndex;

/// Key of an [`IdentityMap`]: an object or a pair of objects, compared by address.
pub trait IdentityKey {
    /// The owned references that keep the key's objects alive.
    type Kept;

    /// Returns the addresses of the two objects, 0 for an absent one.
    fn addresses(&self) -> [usize; 2];

    /// Returns owned references to the objects, except to objects that are borrowed for the whole
    /// walk.
    fn keep(&self) -> Self::Kept;
}

impl IdentityKey for ObjectRef {
    type Kept = Option<ObjectRef>;

    fn addresses(&self) -> [usize; 2] {
        [self.as_ptr().addr(), 0]
    }

    fn keep(&self) -> Option<ObjectRef> {
        Some(self.clone())
    }
}

impl IdentityKey for Any {
    type Kept = Option<ObjectRef>;

    fn addresses(&self) -> [usize; 2] {
        [self.as_object().map_or(0, |object| object.as_ptr().addr()), 0]
    }

    fn keep(&self) -> Option<ObjectRef> {
        self.as_object().cloned()
    }
}

impl<T: IdentityKey<Kept = Option<ObjectRef>>> IdentityKey for MaybeOwned<'_, T> {
    type Kept = Option<ObjectRef>;

    fn addresses(&self) -> [usize; 2] {
        (**self).addresses()
    }

    fn keep(&self) -> Option<ObjectRef> {
        match self {
            MaybeOwned::Borrowed(_) => None,
            MaybeOwned::Owned(value) => value.keep(),
        }
    }
}

impl<K: IdentityKey> IdentityKey for (K, K) {
    type Kept = (K::Kept, K::Kept);

    fn addresses(&self) -> [usize; 2] {
        let ([first, _], [second, _]) = (self.0.addresses(), self.1.addresses());
        [first, second]
    }

    fn keep(&self) -> Self::Kept {
        (self.0.keep(), self.1.keep())
    }
}

/// Hash map from objects, compared by identity, to values. Preserves insertion order until an entry
/// is removed.
///
/// Keeps its keys alive, so that no address is reused while the map exists.
pub struct IdentityMap<V, K = Option<ObjectRef>> {
    entries: Buffer<IdentityEntry<V, K>>,
    index: HashIndex,
}

struct IdentityEntry<V, K> {
    kept: K,
    addresses: [usize; 2],
    value: V,
}

impl<V, K> Default for IdentityMap<V, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V, K> IdentityMap<V, K> {
    /// Creates an empty map. Does not allocate.
    pub const fn new() -> Self {
        Self { entries: Buffer::new(), index: HashIndex::new() }
    }

    /// Looks up the value of an object; `None` if the object is not in the map.
    pub fn get(&self, key: &impl IdentityKey<Kept = K>) -> Option<&V> {
        Some(&self.entries.get(self.index_of(key)?)?.value)
    }

    /// Replaces the value of an object; does nothing if the object is not in the map. Does not
    /// allocate.
    pub fn update(&mut self, key: &impl IdentityKey<Kept = K>, value: V) {
        if let Some(place) = self.index_of(key) {
            self.set_at(place, value);
        }
    }

    /// Sets the value of an object, inserting an entry if the object is not in the map.
    ///
    /// # Errors
    /// MemoryError.
    pub fn insert(&mut self, key: &impl IdentityKey<Kept = K>, value: V) -> Result<()> {
        self.insert_indexed(key, value).map(drop)
    }

    /// Inserts or replaces like [`insert`](Self::insert), and returns the index of the entry, for
    /// [`set_at`](Self::set_at).
    ///
    /// # Errors
    /// MemoryError.
    pub fn insert_indexed(&mut self, key: &impl IdentityKey<Kept = K>, value: V) -> Result<usize> {
        self.reserve_one()?;
        let (addresses, len) = (key.addresses(), self.entries.len());
        let place =
            self.index.find_or_insert(hash(addresses), len, is_at(&self.entries, addresses));
        if place < len {
            self.set_at(place, value);
        } else {
            self.entries.try_push(IdentityEntry { kept: key.keep(), addresses, value })?;
        }
        Ok(place)
    }

    /// Reserves memory for one more entry, so that the next insertion cannot fail. For callers that
    /// hold a lock: no error may be created under it, because the memory of the error may come from
    /// a user's allocator.
    ///
    /// # Errors
    /// AllocError when out of memory.
    #[inline]
    pub fn reserve_one(&mut self) -> core::result::Result<(), AllocError> {
        if self.entries.len() < self.index.capacity() { Ok(()) } else { self.grow() }
    }

    /// Replaces the value of the entry at an index; does nothing if there is no such entry.
    pub fn set_at(&mut self, place: usize, value: V) {
        if let Some(entry) = self.entries.get_mut(place) {
            entry.value = value;
        }
    }

    /// Removes an object and returns the references that kept it alive; `None` if it is not in the
    /// map. The last entry moves to the index of the removed one. Does not allocate.
    pub fn remove(&mut self, key: &impl IdentityKey<Kept = K>) -> Option<K> {
        let place = self.index_of(key)?;
        self.index.remove(hash(key.addresses()), place);
        let removed = self.entries.swap_remove(place)?;
        if let Some(moved) = self.entries.get(place) {
            self.index.replace(hash(moved.addresses), self.entries.len(), place);
        }
        Some(removed.kept)
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if the map is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of the entry at an index; `None` if there is no such entry.
    pub fn value_at(&self, place: usize) -> Option<&V> {
        self.entries.get(place).map(|entry| &entry.value)
    }

    #[cold]
    fn grow(&mut self) -> core::result::Result<(), AllocError> {
        self.entries.try_reserve(self.index.next_capacity() - self.entries.len())?;
        self.index.grow()
    }

    /// Returns the index of an object's entry; `None` if it is not in the map.
    fn index_of(&self, key: &impl IdentityKey<Kept = K>) -> Option<usize> {
        let addresses = key.addresses();
        self.index.find(hash(addresses), is_at(&self.entries, addresses))
    }
}

/// Returns a predicate on entry indices: whether the entry has these addresses.
fn is_at<V, K>(entries: &[IdentityEntry<V, K>], addresses: [usize; 2]) -> impl Fn(usize) -> bool {
    move |place| entries.get(place).is_some_and(|entry| entry.addresses == addresses)
}

fn hash([first, second]: [usize; 2]) -> u32 {
    let mixed = (first as u64) ^ (second as u64).rotate_left(29);
    (mixed.wrapping_mul(GOLDEN_RATIO) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::ListObject;

    #[test]
    fn objects_are_found_by_identity() -> Result<()> {
        let mut seen = IdentityMap::default();
        let mut objects = Buffer::new();
        for number in 0..300usize {
            let object = Any::new(ListObject::with_capacity(0)?);
            assert!(seen.get(&object).is_none());
            seen.insert(&object, number)?;
            objects.try_push(object)?;
        }
        for (number, object) in objects.iter().enumerate() {
            assert_eq!(seen.get(object), Some(&number));
            seen.insert(object, number + 1)?;
            assert_eq!(seen.value_at(number), Some(&(number + 1)));
        }
        assert_eq!(seen.len(), 300);
        Ok(())
    }

    #[test]
    fn updates_do_not_allocate() -> Result<()> {
        let mut seen = IdentityMap::default();
        let objects = [(); 8].map(|()| ListObject::with_capacity(0).map(Any::new));
        for object in &objects {
            seen.insert(object.as_ref().map_err(Clone::clone)?, 1)?;
        }
        let stranger = Any::new(ListObject::with_capacity(0)?);
        seen.update(&stranger, 2);
        assert_eq!(seen.get(&stranger), None);
        for object in objects {
            let object = object?;
            seen.update(&object, 2);
            assert_eq!(seen.get(&object), Some(&2));
        }
        assert_eq!((seen.len(), seen.index.capacity()), (8, 8));
        Ok(())
    }

    #[test]
    fn removing_an_object_keeps_all_others() -> Result<()> {
        let mut seen = IdentityMap::new();
        let mut objects = std::vec::Vec::new();
        for number in 0..if cfg!(miri) { 60 } else { 600 } {
            let object = Any::new(ListObject::with_capacity(0)?);
            seen.insert(&object, number)?;
            objects.push(object);
        }
        // In an order that removes the first, the last and inner entries.
        let mut at = 0;
        while !objects.is_empty() {
            at = (at + 7) % objects.len();
            let object = objects.swap_remove(at);
            assert!(seen.remove(&object).is_some_and(|kept| kept.is_some()));
            assert!(seen.remove(&object).is_none());
            assert_eq!(object.as_object().map(ObjectRef::strong_count), Some(1));
            assert_eq!(seen.len(), objects.len());
            assert!(objects.iter().all(|object| seen.get(object).is_some()));
        }
        Ok(())
    }

    #[test]
    fn pairs_are_ordered() -> Result<()> {
        let (one, two) =
            (Any::new(ListObject::with_capacity(0)?), Any::new(ListObject::with_capacity(0)?));
        let mut seen = IdentityMap::default();
        seen.insert(&(one.clone(), two.clone()), true)?;
        assert_eq!(seen.get(&(one.clone(), two.clone())), Some(&true));
        assert_eq!(seen.get(&(two, one)), None);
        Ok(())
    }
}

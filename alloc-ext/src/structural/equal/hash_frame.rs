//! Containers and objects while they are hashed: what comes next in them, and the hash so far.

use core::ops::Range;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;

use super::hash_leaf::hash_leaf;
use crate::dataclass::{combine, type_key_hash};
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Elements, Entries, Fields, Held, look_ahead, sort};

/// An object to hash, and the region that it is in.
pub(super) struct Node<'w> {
    pub object: Held<'w, ObjectRef>,
    pub region: DefRegion,
    /// Whether the walk may meet it again. Hashes of containers are not remembered, so that what is in one is met as often
    /// as the container.
    pub is_shared: bool,
}

impl<'w> Node<'w> {
    pub(super) fn new(object: Held<'w, ObjectRef>, region: DefRegion) -> Self {
        let is_shared = !object.is_sole_by_count();
        Self { object, region, is_shared }
    }

    /// A value in a container that is no leaf, and so an object. `is_shared` says whether the container is.
    #[cfg_attr(feature = "std", inline(always))]
    fn inside(value: Held<'w>, region: DefRegion, is_shared: bool) -> Option<Self> {
        value.into_object().map(|object| {
            let is_shared = is_shared || !object.is_sole_by_count();
            Self { object, region, is_shared }
        })
    }

    /// An object that the walk got from the getter of a field.
    pub(super) fn in_field(object: ObjectRef, region: DefRegion) -> Self {
        Self::new(Held::Own(object), region)
    }
}

/// What a container starts with: its type and size.
fn first_hash(type_index: i32, len: usize) -> u64 {
    combine(type_key_hash(type_index), len as u64)
}

/// A sequence.
pub(super) struct SequenceFrame<'w> {
    elements: Elements<'w>,
    region: DefRegion,
    is_shared: bool,
    len: usize,
    next: usize,
    pub hash: u64,
}

impl<'w> SequenceFrame<'w> {
    pub(super) fn new(node: Node<'w>) -> Self {
        let (index, is_shared) = (node.object.type_index(), node.is_shared);
        let elements = Elements::of(node.object);
        let len = elements.len();
        Self { elements, region: node.region, is_shared, len, next: 0, hash: first_hash(index, len) }
    }

    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Option<Node<'w>>> {
        if self.hash_leaves(skip_tensor_content)? {
            return Ok(None);
        }
        let child = self.elements.get(self.next)?;
        self.next += 1;
        Ok(Node::inside(child, self.region, self.is_shared))
    }

    /// Takes elements into the hash up to one that has something inside; answers true at the end.
    fn hash_leaves(&mut self, skip_tensor_content: bool) -> Result<bool> {
        // SAFETY: the hash of a value that has nothing inside runs no code of users.
        let elements = unsafe { self.elements.as_slice() };
        // A hook may have made a List shorter.
        let elements = elements.get(self.next..self.len.min(elements.len())).unwrap_or_default();
        let (mut hash, mut taken) = (self.hash, 0);
        for element in elements {
            look_ahead(element);
            let Some(one) = hash_leaf(element, skip_tensor_content)? else { break };
            hash = combine(hash, one);
            taken += 1;
        }
        self.hash = hash;
        self.next += taken;
        Ok(self.next >= self.len)
    }
}

/// A map: its entries go by the hashes of their keys, so that their order does not count.
pub(super) struct EntriesFrame<'w> {
    map: Entries<'w>,
    region: DefRegion,
    is_shared: bool,
    /// Where this map's part of the keys begins, and what is left of it.
    first_key: usize,
    keys: Range<usize>,
    pub hash: u64,
}

/// Hashes and places of keys, those of inner maps behind those of outer ones.
pub(super) type Keys = Buffer<(u64, u64)>;

impl<'w> EntriesFrame<'w> {
    /// Entries whose key has no hash by `hash_of_key` are left out.
    pub(super) fn new(
        node: Node<'w>,
        keys: &mut Keys,
        hash_of_key: impl Fn(&Any) -> Option<u64>,
    ) -> Result<Self> {
        let (index, is_shared) = (node.object.type_index(), node.is_shared);
        let mut map = Entries::of(node.object);
        let first = keys.len();
        keys.try_reserve(map.len())?;
        while let Some(place) = map.place() {
            // SAFETY: known hashes, and those of numbers and texts, run no code of users.
            let hash = unsafe { map.peek() }.and_then(|(key, _)| {
                look_ahead(key);
                hash_of_key(key)
            });
            if let Some(hash) = hash {
                keys.try_push((hash, place))?;
            }
            map.advance();
        }
        sort(keys.get_mut(first..).unwrap_or_default());
        let hash = first_hash(index, map.len());
        Ok(Self { map, region: node.region, is_shared, first_key: first, keys: first..keys.len(), hash })
    }

    /// Entries that hooks have taken out of a Dict meanwhile do not count.
    pub(super) fn next(&mut self, keys: &Keys, skip_tensor_content: bool) -> Result<Option<Node<'w>>> {
        while let Some(place) = self.next_place(keys) {
            // SAFETY: the hash of a value that has nothing inside runs no code of users.
            let Some((_, value)) = (unsafe { self.map.at(place) }) else { continue };
            match hash_leaf(value, skip_tensor_content)? {
                Some(hash) => self.hash = combine(self.hash, hash),
                None => {
                    return Ok(self
                        .map
                        .value_at(place)
                        .and_then(|value| Node::inside(value, self.region, self.is_shared)));
                }
            }
        }
        Ok(None)
    }

    /// Takes keys into the hash up to one that is alone with its hash, and gives the place of that one. The values of
    /// others have no order and do not count.
    fn next_place(&mut self, keys: &Keys) -> Option<u64> {
        loop {
            let ((hash, place), rest) = keys.get(self.keys.clone())?.split_first()?;
            self.hash = combine(self.hash, *hash);
            let ties = rest.iter().take_while(|(other, _)| other == hash).count();
            self.keys.start += 1 + ties;
            if ties == 0 {
                return Some(*place);
            }
        }
    }

    /// Gives up the keys of a map that is at its end, and of maps in it.
    pub(super) fn forget_keys(&self, keys: &mut Keys) {
        keys.truncate(self.first_key);
    }
}

/// An object that is hashed by its fields.
pub(super) struct ObjectFrame<'w> {
    pub object: Held<'w, ObjectRef>,
    pub identity: Identity,
    /// The region of what is inside.
    region: DefRegion,
    fields: Fields,
    pub hash: u64,
}

/// What the hash of an object takes beside its content.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    pub kind: StructuralKind,
    /// The region that the object is in.
    pub region: DefRegion,
    /// Whether its hash has to be remembered.
    pub may_be_met_again: bool,
}

/// What the hash of an object by its fields starts with.
pub(super) struct ObjectStart {
    pub identity: Identity,
    /// The region of what is inside.
    pub region: DefRegion,
    pub fields: Fields,
    pub hash: u64,
}

impl<'w> ObjectFrame<'w> {
    #[inline(always)]
    pub(super) fn new(object: Held<'w, ObjectRef>, start: ObjectStart) -> Self {
        let ObjectStart { identity, region, fields, hash } = start;
        Self { object, identity, region, fields, hash }
    }

    /// The next object in a field, and the region that it is in.
    #[inline(always)]
    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Option<(ObjectRef, DefRegion)>> {
        let object: &ObjectRef = &self.object;
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            let mut value = Any::NONE;
            field.read(object, &mut value)?;
            match hash_leaf(&value, skip_tensor_content)? {
                Some(hash) => self.hash = combine(self.hash, hash),
                None => {
                    let region = self.region.in_field(field.flags());
                    return Ok(value.into_object().ok().map(|object| (object, region)));
                }
            }
        }
        Ok(None)
    }
}

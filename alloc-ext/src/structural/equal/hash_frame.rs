//! Containers and objects while they are hashed: what comes next in them, and the hash so far.
#![forbid(unsafe_code)]

use core::mem;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::elements::{Cursor, Elements, Entries};
use super::hash_leaf::hash_leaf;
use crate::dataclass::{combine, type_key_hash};
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::Fields;

/// A value to hash, and the region that it is in.
pub(super) struct Node {
    pub value: Any,
    pub region: DefRegion,
}

/// What a container starts with: its type and size.
fn first_hash(type_index: i32, len: usize) -> u64 {
    combine(type_key_hash(type_index), len as u64)
}

/// A sequence.
pub(super) struct SequenceFrame {
    elements: Elements,
    region: DefRegion,
    len: usize,
    next: usize,
    pub hash: u64,
}

impl SequenceFrame {
    pub(super) fn new(node: Node) -> Result<Self> {
        let index = node.value.type_index();
        let elements = Elements::of(node.value)?;
        let len = elements.len();
        let (next, hash) = elements.hash_plain(0, len, first_hash(index, len));
        Ok(Self { elements, region: node.region, len, next, hash })
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.len
    }

    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Option<Node>> {
        loop {
            (self.next, self.hash) = self.elements.hash_plain(self.next, self.len, self.hash);
            if self.is_done() {
                return Ok(None);
            }
            let index = self.next;
            self.next += 1;
            match self.elements.with(index, |element| hash_leaf(element, skip_tensor_content))? {
                Some(hash) => self.hash = combine(self.hash, hash),
                None => return Ok(Some(Node { value: self.elements.get(index)?, region: self.region })),
            }
        }
    }
}

/// A map: its entries go by the hashes of their keys, so that their order does not count.
pub(super) struct EntriesFrame {
    /// Hashes of keys, and values.
    entries: Buffer<(u64, Any)>,
    region: DefRegion,
    next: usize,
    pub hash: u64,
}

impl EntriesFrame {
    /// Entries whose key has no hash by `hash_of_key` are left out.
    pub(super) fn new(node: Node, hash_of_key: impl Fn(&Any) -> Option<u64>) -> Result<Self> {
        let index = node.value.type_index();
        let map = Entries::of(node.value)?;
        let mut entries = Buffer::try_with_capacity(map.len())?;
        let mut cursor = Cursor::new(&map);
        while let Some((key, value)) = cursor.next(&map) {
            if let Some(hash) = hash_of_key(&key) {
                entries.try_push((hash, value))?;
            }
        }
        entries.sort_unstable_by_key(|(hash, _)| *hash);
        Ok(Self { entries, region: node.region, next: 0, hash: first_hash(index, map.len()) })
    }

    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Option<Node>> {
        while let Some(value) = self.next_value() {
            match hash_leaf(&value, skip_tensor_content)? {
                Some(hash) => self.hash = combine(self.hash, hash),
                None => return Ok(Some(Node { value, region: self.region })),
            }
        }
        Ok(None)
    }

    /// Takes keys into the hash up to one that is alone with its hash, and gives the value of that one. The values of
    /// others have no order and do not count.
    fn next_value(&mut self) -> Option<Any> {
        loop {
            let (hash, value) = self.entries.get_mut(self.next)?;
            let (hash, value) = (*hash, mem::take(value));
            self.hash = combine(self.hash, hash);
            let rest = self.entries.get(self.next + 1..).unwrap_or_default();
            let ties = rest.iter().take_while(|(other, _)| *other == hash).count();
            self.next += 1 + ties;
            if ties == 0 {
                return Some(value);
            }
        }
    }
}

/// An object that is hashed by its fields.
pub(super) struct ObjectFrame {
    pub node: Node,
    pub kind: StructuralKind,
    /// The region of what is inside.
    pub region: DefRegion,
    pub fields: Fields,
    pub hash: u64,
}

impl ObjectFrame {
    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Option<Node>> {
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            let value = field.get(&self.node.value)?;
            match hash_leaf(&value, skip_tensor_content)? {
                Some(hash) => self.hash = combine(self.hash, hash),
                None => return Ok(Some(Node { value, region: self.region.in_field(field.flags()) })),
            }
        }
        Ok(None)
    }
}

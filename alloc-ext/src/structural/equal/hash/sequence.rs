//! Hash frame of an Array or List.

use core::slice;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::super::hash_leaf::hash_leaf;
use super::node::{HashNode, first_hash};
use crate::dataclass::combine;
use crate::structural::DefRegion;
use crate::walk::{Elements, elements_of_array, prefetch_next};

/// A hash of a sequence in progress.
pub(super) struct SequenceHashFrame<'w> {
    elements: Elements<'w>,
    region: DefRegion,
    is_shared: bool,
    len: usize,
    next: usize,
    pub hash: u64,
}

/// Next child of a sequence.
pub(super) enum NextElement<'w> {
    /// An Array whose first `next` elements have already been hashed into `hash`.
    Array { node: HashNode<'w>, next: usize, hash: u64 },
    /// Any other object.
    Node(HashNode<'w>),
}

impl<'w> SequenceHashFrame<'w> {
    pub(super) fn new(node: HashNode<'w>) -> Self {
        let index = node.object.type_index();
        let mut frame = Self::behind(0, 0, node);
        frame.hash = first_hash(index, frame.len);
        frame
    }

    /// Creates a frame for a sequence whose first `next` elements have already been hashed into
    /// `hash`.
    #[inline(always)]
    pub(super) fn behind(next: usize, hash: u64, node: HashNode<'w>) -> Self {
        let HashNode { object, region, is_shared } = node;
        let elements = Elements::of(object);
        let len = elements.len();
        Self { elements, region, is_shared, len, next, hash }
    }

    /// Hashes elements up to one that is neither a leaf nor an Array of leaves, and returns it;
    /// `None` at the end. Most Arrays consist of leaves and are hashed without a frame, which would
    /// be stored and reloaded at once.
    #[inline(always)]
    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Option<NextElement<'w>>> {
        // Hashing leaves runs no user callback.
        let borrowed = self.elements.as_slice()?;
        // A hook may have shortened a List.
        let elements = borrowed.get(self.next..self.len.min(borrowed.len())).unwrap_or_default();
        let mut rest = RemainingElements { elements: elements.iter(), hash: self.hash };
        let begun = rest.skip_flat(skip_tensor_content)?;
        self.hash = rest.hash;
        self.next += elements.len() - rest.len();
        if self.next >= self.len {
            return Ok(None);
        }
        let child = self.elements.get(self.next)?;
        self.next += 1;
        let Some(node) = HashNode::inside(child, self.region, self.is_shared) else {
            return Ok(None);
        };
        Ok(Some(match begun {
            Some((next, hash)) => NextElement::Array { node, next, hash },
            None => NextElement::Node(node),
        }))
    }
}

/// The elements not hashed yet, and the hash so far.
struct RemainingElements<'a> {
    elements: slice::Iter<'a, Any>,
    hash: u64,
}

impl<'a> RemainingElements<'a> {
    fn first(&self) -> Option<&'a Any> {
        self.elements.as_slice().first()
    }

    fn len(&self) -> usize {
        self.elements.as_slice().len()
    }

    #[inline(always)]
    fn skip(&mut self, hash: u64) {
        self.elements.next();
        self.hash = combine(self.hash, hash);
    }

    /// Hashes elements up to the first that is not a leaf.
    #[inline(always)]
    fn skip_leaves(&mut self, skip_tensor_content: bool) -> Result<()> {
        while let Some(element) = self.first() {
            prefetch_next(element);
            let Some(hash) = hash_leaf(element, skip_tensor_content)? else { break };
            self.skip(hash);
        }
        Ok(())
    }

    /// Hashes leaves and Arrays of leaves, up to any other element. If that element is an Array,
    /// returns the number of its leading leaves and their hash.
    #[inline(always)]
    fn skip_flat(&mut self, skip_tensor_content: bool) -> Result<Option<(usize, u64)>> {
        loop {
            self.skip_leaves(skip_tensor_content)?;
            let Some(inner) = self.first().and_then(elements_of_array) else { return Ok(None) };
            let mut rest = RemainingElements {
                elements: inner.iter(),
                hash: first_hash(type_index::ARRAY, inner.len()),
            };
            rest.skip_leaves(skip_tensor_content)?;
            if rest.len() != 0 {
                return Ok(Some((inner.len() - rest.len(), rest.hash)));
            }
            self.skip(rest.hash);
        }
    }
}

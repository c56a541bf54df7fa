//! The walk that hashes a value.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::type_index;

use super::hash_frame::{EntriesFrame, Node, ObjectFrame, SequenceFrame};
use super::hash_leaf::{hash_bits, hash_leaf};
use crate::dataclass::combine;
use crate::structural::any_arg::AnyArg;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Entered, Fields, Fold, HookState, Hooks, Seen, Slot, fold, lend};

/// The state of a hash.
#[derive(Default)]
pub(super) struct Hasher {
    skip_tensor_content: bool,
    /// The hashes of objects that were met.
    known: Seen<Any, u64>,
    /// Variables that were defined so far: each counts by its number.
    variables: u32,
    /// Nodes of a graph so far: each counts by its number, so that sharing shows.
    nodes: u32,
    hooks: Hooks,
}

pub(super) enum Frame {
    Sequence(SequenceFrame),
    Entries(EntriesFrame),
    Object(ObjectFrame),
}

impl HookState for Hasher {}

impl Fold for Hasher {
    type Node = Node;
    type Frame = Frame;
    type Value = u64;
    const NAME: &'static str = "StructuralHash";

    /// Gets to a container or object: nobody asks for other values.
    fn enter(&mut self, node: Node) -> Result<Entered<Frame, u64>> {
        Ok(Entered::Frame(match node.value.type_index() {
            type_index::ARRAY | type_index::LIST => {
                let frame = SequenceFrame::new(node)?;
                if frame.is_done() {
                    return Ok(Entered::Value(frame.hash));
                }
                Frame::Sequence(frame)
            }
            type_index::MAP | type_index::DICT => {
                Frame::Entries(EntriesFrame::new(node, |key| self.hash_of_key(key))?)
            }
            _ => return self.enter_object(node),
        }))
    }

    fn next(&mut self, frame: &mut Frame) -> Result<Option<Node>> {
        match frame {
            Frame::Sequence(frame) => frame.next(self.skip_tensor_content),
            Frame::Entries(frame) => frame.next(self.skip_tensor_content),
            Frame::Object(frame) => frame.next(self.skip_tensor_content),
        }
    }

    fn feed(&mut self, frame: &mut Frame, hash: u64) -> Result<ControlFlow<u64>> {
        let so_far = match frame {
            Frame::Sequence(frame) => &mut frame.hash,
            Frame::Entries(frame) => &mut frame.hash,
            Frame::Object(frame) => &mut frame.hash,
        };
        *so_far = combine(*so_far, hash);
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut Frame) -> Result<u64> {
        match frame {
            Frame::Sequence(frame) => Ok(frame.hash),
            Frame::Entries(frame) => Ok(frame.hash),
            Frame::Object(frame) => self.finish_object(&frame.node, frame.kind, frame.hash),
        }
    }

    fn abandon(&mut self, _: Frame) {}
}

impl Hasher {
    pub(super) fn new(skip_tensor_content: bool) -> Self {
        Self { skip_tensor_content, hooks: Hooks::new("__s_hash__"), ..Self::default() }
    }

    /// The hash of a value.
    ///
    /// # Errors
    ///
    /// Those of [`structural_hash`](super::structural_hash).
    pub(super) fn hash(&mut self, node: Node) -> Result<u64> {
        match hash_leaf(&node.value, self.skip_tensor_content)? {
            Some(hash) => Ok(hash),
            None => fold(self, node),
        }
    }

    /// The hash of a key whatever was hashed before it; None when that cannot be told, which leaves the entry out.
    fn hash_of_key(&self, key: &Any) -> Option<u64> {
        hash_bits(key).or_else(|| self.known.get(key).copied())
    }

    fn enter_object(&mut self, node: Node) -> Result<Entered<Frame, u64>> {
        let (entry, kind) = StructuralKind::of_comparable(node.value.type_index())?;
        if let Some(hash) = self.known.get(&node.value) {
            return Ok(Entered::Value(*hash));
        }
        let (seed, region) = (entry.type_key_hash(), node.region.in_object(kind));
        if let Some(hook) = self.hooks.of(&node.value)? {
            let hash = self.hash_by_hook(&hook, &node.value, seed, region)?;
            return self.finish_object(&node, kind, hash).map(Entered::Value);
        }
        let fields = Fields::of(entry);
        Ok(Entered::Frame(Frame::Object(ObjectFrame { node, kind, region, fields, hash: seed })))
    }

    /// The hash of an object whose content has this hash.
    fn finish_object(&mut self, node: &Node, kind: StructuralKind, content: u64) -> Result<u64> {
        let hash = match kind {
            StructuralKind::FreeVar if node.region.defines() => combine(content, count(&mut self.variables)),
            // A variable that is used where it was not defined is nothing but itself.
            StructuralKind::FreeVar => node.value.view().payload_bits(),
            StructuralKind::DagNode => combine(content, count(&mut self.nodes)),
            _ => content,
        };
        self.known.set(&node.value, hash)?;
        Ok(hash)
    }

    fn hash_by_hook(&mut self, hook: &Function, value: &Any, seed: u64, region: DefRegion) -> Result<u64> {
        let hash = lend(
            self,
            |slot| Self::callback(slot, region),
            |callback| {
                hook.call(&[value.view(), AnyView::from(seed as i64), AnyView::from(callback)])?.get::<i64>()
            },
        )?;
        Ok(hash as u64)
    }

    /// What a hook calls to take a value inside its object into the hash so far.
    fn callback(slot: Slot<Self>, region: DefRegion) -> Result<Function> {
        Function::from_typed(move |value: AnyArg, so_far: u64, kind: i32| -> Result<i64> {
            let region = region.in_callback(kind);
            slot.with(|hasher| {
                let hash = hasher.hash(Node { value: value.0, region })?;
                // Hashes travel as signed numbers with the same bits.
                Ok(combine(so_far, hash) as i64)
            })
        })
    }
}

/// The number of one more, from 0 on.
fn count(counter: &mut u32) -> u64 {
    let number = *counter;
    *counter = number.wrapping_add(1);
    u64::from(number)
}

//! The hash walk and its state.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};

use super::super::hash_leaf::hash_leaf;
use super::entries::{EntriesHashFrame, HashedEntry, RemainingEntries, collect};
use super::node::{HashNode, first_hash};
use super::object::{Identity, ObjectHashFrame, ObjectStart};
use super::sequence::{NextElement, SequenceHashFrame};
use crate::dataclass::combine;
use crate::structural::any_arg::AnyArg;
use crate::structural::kind_lookup::KindCache;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{
    CallbackState, Entered, Fields, Fold, HookState, Hooks, IdentityMap, MapSlots, MaybeOwned,
    NextChild, fold, is_unshared_besides_walk, reserve_frame, with_callback,
};

/// State of a structural hash computation.
#[derive(Default)]
pub struct Hasher {
    skip_tensor_content: bool,
    /// Cached hashes of the visited objects that the walk may reach again.
    known: IdentityMap<u64>,
    /// Entries of all open maps, outermost map first.
    entries: Buffer<HashedEntry>,
    /// Number of variables defined so far. A variable is hashed by its sequence number.
    variables: u32,
    /// Number of graph nodes visited so far. A graph node is hashed by its sequence number, so that
    /// sharing affects the hash.
    nodes: u32,
    types: KindCache,
    hooks: Hooks,
}

/// A hash walk over a borrowed value.
struct StructuralHashWalk<'h, 'w> {
    hasher: &'h mut Hasher,
    lent: PhantomData<&'w Any>,
}

// A separate tag: reading one from a niche takes five instructions, several times per object.
#[repr(u8)]
enum StructuralHashFrame<'w> {
    Sequence(SequenceHashFrame<'w>),
    Entries(EntriesHashFrame<'w>),
    Object(ObjectHashFrame<'w>),
}

impl HookState for Hasher {}

impl<'w> Fold for StructuralHashWalk<'_, 'w> {
    type Node = HashNode<'w>;
    type Frame = StructuralHashFrame<'w>;
    type Value = u64;
    const NAME: &'static str = "StructuralHash";

    /// Enters a container or object. Leaves are hashed without entering.
    fn enter(
        &mut self,
        node: HashNode<'w>,
        open: &mut Buffer<StructuralHashFrame<'w>>,
    ) -> Result<Entered<StructuralHashFrame<'w>, u64>> {
        match node.object.type_index() {
            type_index::ARRAY | type_index::LIST => {
                reserve_frame::<Self>(open)?
                    .fill(StructuralHashFrame::Sequence(SequenceHashFrame::new(node)));
            }
            type_index::MAP | type_index::DICT => {
                let HashNode { object, region, is_shared } = node;
                return self.enter_map(object, region, is_shared, open);
            }
            _ => match self.enter_object(&node.object, node.region, node.is_shared)? {
                ControlFlow::Break(hash) => return Ok(Entered::Value(hash)),
                ControlFlow::Continue(start) => {
                    reserve_frame::<Self>(open)?.fill(StructuralHashFrame::Object(
                        ObjectHashFrame::new(node.object, start),
                    ));
                }
            },
        }
        Ok(Entered::Open)
    }

    /// Pushes the frames of Arrays and objects directly, without creating a node first.
    #[inline(always)]
    fn descend(
        &mut self,
        open: &mut Buffer<StructuralHashFrame<'w>>,
    ) -> Result<NextChild<HashNode<'w>, u64>> {
        let skip_tensor_content = self.hasher.skip_tensor_content;
        match open.last_mut() {
            Some(StructuralHashFrame::Object(frame)) => match frame.next(skip_tensor_content)? {
                Some((object, region)) => self.enter_field(object, region, open),
                None => Ok(NextChild::End),
            },
            Some(StructuralHashFrame::Sequence(frame)) => match frame.next(skip_tensor_content)? {
                Some(NextElement::Array { node, next, hash }) => {
                    let room = reserve_frame::<Self>(open)?;
                    room.fill(StructuralHashFrame::Sequence(SequenceHashFrame::behind(
                        next, hash, node,
                    )));
                    Ok(NextChild::Open)
                }
                Some(NextElement::Node(node)) => Ok(NextChild::Child(node)),
                None => Ok(NextChild::End),
            },
            Some(StructuralHashFrame::Entries(frame)) => {
                let next = frame.next(&self.hasher.entries, skip_tensor_content)?;
                Ok(next.map_or(NextChild::End, NextChild::Child))
            }
            None => Ok(NextChild::End),
        }
    }

    fn feed(&mut self, frame: &mut StructuralHashFrame<'w>, hash: u64) -> Result<ControlFlow<u64>> {
        let so_far = match frame {
            StructuralHashFrame::Sequence(frame) => &mut frame.hash,
            StructuralHashFrame::Entries(frame) => &mut frame.rest.hash,
            StructuralHashFrame::Object(frame) => &mut frame.hash,
        };
        *so_far = combine(*so_far, hash);
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut StructuralHashFrame<'w>) -> Result<u64> {
        match frame {
            StructuralHashFrame::Sequence(frame) => Ok(frame.hash),
            StructuralHashFrame::Entries(frame) => {
                frame.forget_entries(&mut self.hasher.entries);
                Ok(frame.rest.hash)
            }
            StructuralHashFrame::Object(frame) => {
                self.hasher.finish_object(&frame.object, frame.identity, frame.hash)
            }
        }
    }

    fn abandon(&mut self, frame: StructuralHashFrame<'w>) {
        if let StructuralHashFrame::Entries(frame) = frame {
            frame.forget_entries(&mut self.hasher.entries);
        }
    }
}

impl<'w> StructuralHashWalk<'_, 'w> {
    /// Enters a map. Hashes it without a frame if all values are numbers and strings.
    #[inline(always)]
    fn enter_map(
        &mut self,
        map: MaybeOwned<'w, ObjectRef>,
        region: DefRegion,
        is_shared: bool,
        open: &mut Buffer<StructuralHashFrame<'w>>,
    ) -> Result<Entered<StructuralHashFrame<'w>, u64>> {
        let room = reserve_frame::<Self>(open)?;
        let index = map.type_index();
        let map = MapSlots::of(map);
        let Hasher { known, entries, .. } = &mut *self.hasher;
        let collected = collect(&map, known, entries)?;
        let mut rest =
            RemainingEntries { range: collected.range, hash: first_hash(index, map.len()) };
        if collected.is_flat {
            let first = rest.range.start;
            rest.next(entries);
            entries.truncate(first);
            return Ok(Entered::Value(rest.hash));
        }
        room.fill(StructuralHashFrame::Entries(EntriesHashFrame::new(
            map, region, is_shared, rest,
        )));
        Ok(Entered::Open)
    }

    /// Descends from an object to an object in one of its fields, without creating a node first.
    #[inline(always)]
    fn enter_field(
        &mut self,
        object: ObjectRef,
        region: DefRegion,
        open: &mut Buffer<StructuralHashFrame<'w>>,
    ) -> Result<NextChild<HashNode<'w>, u64>> {
        if object.type_index() < type_index::DYN_OBJECT_BEGIN {
            return Ok(NextChild::Child(HashNode::in_field(object, region)));
        }
        match self.enter_object(&object, region, !is_unshared_besides_walk(&object))? {
            ControlFlow::Break(hash) => Ok(NextChild::Value(hash)),
            ControlFlow::Continue(start) => {
                let room = reserve_frame::<Self>(open)?;
                room.fill(StructuralHashFrame::Object(ObjectHashFrame::new(
                    MaybeOwned::Owned(object),
                    start,
                )));
                Ok(NextChild::Open)
            }
        }
    }

    /// Returns the cached hash of an object or the result of its hook; otherwise returns the state
    /// for hashing its fields.
    #[inline(always)]
    fn enter_object(
        &mut self,
        object: &ObjectRef,
        region: DefRegion,
        is_shared: bool,
    ) -> Result<ControlFlow<u64, ObjectStart>> {
        let index = object.type_index();
        let (entry, kind) = self.hasher.types.get(index)?;
        // Always cached for kinds that are hashed by number. For other kinds, hashing again would
        // give the same result.
        let is_numbered = matches!(kind, StructuralKind::FreeVar | StructuralKind::DagNode);
        let identity = Identity { kind, region, may_be_revisited: is_numbered || is_shared };
        if identity.may_be_revisited
            && let Some(hash) = self.hasher.known.get(object)
        {
            return Ok(ControlFlow::Break(*hash));
        }
        let (hash, region) = (entry.type_key_hash(), region.in_object(kind));
        if let Some(hook) = self.hasher.hooks.of_type(index)? {
            let hash = self.hasher.hash_by_hook(&hook, object, hash, region)?;
            return self.hasher.finish_object(object, identity, hash).map(ControlFlow::Break);
        }
        Ok(ControlFlow::Continue(ObjectStart { identity, region, fields: Fields::of(entry), hash }))
    }
}

impl Hasher {
    pub fn new(skip_tensor_content: bool) -> Self {
        Self { skip_tensor_content, hooks: Hooks::new("__s_hash__"), ..Self::default() }
    }

    /// Returns the structural hash of a value.
    ///
    /// # Errors
    /// Errors of [`structural_hash`](super::super::structural_hash).
    pub fn hash(&mut self, value: MaybeOwned<'_>, region: DefRegion) -> Result<u64> {
        if let Some(hash) = hash_leaf(&value, self.skip_tensor_content)? {
            return Ok(hash);
        }
        match value.into_object() {
            Some(object) => {
                let node = HashNode::new(object, region);
                // Taken after the check for sharing: a hook may release the reference of the
                // value's owner.
                let _owned = ObjectRef::clone(&node.object);
                fold(&mut StructuralHashWalk { hasher: self, lent: PhantomData }, node)
            }
            None => Ok(0),
        }
    }

    /// Returns the hash of an object from the hash of its content, and caches it if necessary.
    #[inline(always)]
    fn finish_object(
        &mut self,
        object: &ObjectRef,
        identity: Identity,
        content: u64,
    ) -> Result<u64> {
        if identity.may_be_revisited {
            self.remember(object, identity, content)
        } else {
            Ok(content)
        }
    }

    #[inline(never)]
    fn remember(&mut self, object: &ObjectRef, identity: Identity, content: u64) -> Result<u64> {
        let hash = match identity.kind {
            StructuralKind::FreeVar if identity.region.defines() => {
                combine(content, count(&mut self.variables))
            }
            // A variable that is used but not defined is hashed by identity.
            StructuralKind::FreeVar => object.as_ptr().addr() as u64,
            StructuralKind::DagNode => combine(content, count(&mut self.nodes)),
            _ => content,
        };
        self.known.insert(object, hash)?;
        Ok(hash)
    }

    fn hash_by_hook(
        &mut self,
        hook: &Function,
        object: &ObjectRef,
        seed: u64,
        region: DefRegion,
    ) -> Result<u64> {
        let hash = with_callback(
            self,
            |slot| Self::callback(slot, region),
            |callback| {
                hook.call_packed(&[
                    AnyView::from(object),
                    AnyView::from(seed as i64),
                    AnyView::from(callback),
                ])?
                .get::<i64>()
            },
        )?;
        Ok(hash as u64)
    }

    /// Creates the callback passed to a hash hook, which combines a child of the hook's object into
    /// a hash.
    fn callback(slot: CallbackState<Self>, region: DefRegion) -> Result<Function> {
        Function::from_typed(move |value: AnyArg, so_far: u64, kind: i32| -> Result<i64> {
            let region = region.in_callback(kind);
            slot.with(|hasher| {
                let hash = hasher.hash(MaybeOwned::Owned(value.0), region)?;
                // Hashes are passed as signed integers with the same bits.
                Ok(combine(so_far, hash) as i64)
            })
        })
    }
}

/// Returns the next sequence number, starting from 0.
fn count(counter: &mut u32) -> u64 {
    let number = *counter;
    *counter = number.wrapping_add(1);
    u64::from(number)
}

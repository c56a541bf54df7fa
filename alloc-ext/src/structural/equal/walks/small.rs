//! Equality and hash for size-optimised builds: one walk for both operations, a third of the code
//! size of two walks.
#![forbid(unsafe_code)]

use core::cmp::Ordering;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::stack;
use ferrite_core::value::any::{Any, AnyView};

use super::visited::{Counted, Side, VisitedObjects};
use crate::containers::Container;
use crate::dataclass::{combine, type_key_hash};
use crate::operation::{NO_ARGUMENTS, Type, Types, convert};
use crate::structural::equal::Options;
use crate::structural::equal::compare_leaf::compare_any_leaves;
use crate::structural::equal::hash_leaf::{hash_bits, hash_leaf};
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Fields, Hooks, MAX_DEPTH, sort};

/// Implements [`structural_equal`](crate::structural::equal::structural_equal).
pub(in crate::structural::equal) fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    start(true, lhs, rhs, options).map(|equal| equal != 0)
}

/// Implements [`structural_hash`](crate::structural::equal::structural_hash).
pub(in crate::structural::equal) fn hash(value: &Any, options: Options) -> Result<u64> {
    start(false, value, value, options)
}

#[inline(never)]
fn start(compares: bool, lhs: &Any, rhs: &Any, options: Options) -> Result<u64> {
    let hooks = Hooks::new(if compares { "__s_equal__" } else { "__s_hash__" });
    let skip_tensor_content = options.skip_tensor_content;
    let walk =
        StructureWalk { compares, skip_tensor_content, hooks, known: VisitedObjects::new()? };
    walk.run(lhs, rhs, options.region())
}

/// A hash or comparison walk, also used for the nested walks that hooks request. Its result is the
/// hash of the value, or in a comparison 1 if the values are equal and 0 otherwise.
#[derive(Clone)]
struct StructureWalk {
    /// Whether the walk compares two values instead of hashing one.
    compares: bool,
    skip_tensor_content: bool,
    hooks: Hooks,
    /// State of visited objects, shared with nested walks.
    known: VisitedObjects,
}

/// A value to enter; in a comparison, two values.
struct StructureNode {
    lhs: Any,
    rhs: Any,
    region: DefRegion,
    /// Whether a container on the path from the nearest enclosing object to this value is shared.
    is_in_shared: bool,
}

/// A container or object whose children are being visited; in a comparison, two.
struct StructureFrame {
    lhs: ObjectRef,
    rhs: Option<ObjectRef>,
    kind: StructuralKind,
    region: DefRegion,
    /// Definition region of the children.
    inner: DefRegion,
    /// Whether the walk may reach the object again.
    is_shared: bool,
    /// Index of the container's next entry.
    place: usize,
    /// Number of remaining entries.
    left: usize,
    /// Remaining entries of a map being hashed, largest key hash first.
    keys: Buffer<Key>,
    /// Remaining fields of an object.
    fields: Fields,
    hash: u64,
}

/// An entry of a map being hashed. Ordered by the hash of its key alone.
#[derive(Clone, Copy)]
struct Key {
    hash: u64,
    place: usize,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed, so that the smallest hash is popped first.
        other.hash.cmp(&self.hash)
    }
}

impl StructureWalk {
    /// Returns the result for a value. A hash walk ignores the right value.
    fn run(&self, lhs: &Any, rhs: &Any, region: DefRegion) -> Result<u64> {
        let rhs = if self.compares { rhs.clone() } else { Any::NONE };
        let mut node = StructureNode { lhs: lhs.clone(), rhs, region, is_in_shared: false };
        let mut open = Buffer::<StructureFrame>::new();
        let mut result = 0;
        loop {
            let mut is_known = self.enter(&mut node, &mut open, &mut result)?;
            loop {
                let Some(frame) = open.last_mut() else { return Ok(result) };
                if is_known {
                    if self.compares && result == 0 {
                        return Ok(0);
                    }
                    frame.hash = combine(frame.hash, result);
                }
                if self.next(frame, &mut node)? {
                    break;
                }
                self.leave(frame, &mut result)?;
                is_known = true;
                open.truncate(open.len() - 1);
            }
        }
    }

    /// Enters a value, which is moved out of the node. Returns `true` if `result` was set, `false`
    /// if a frame was pushed.
    fn enter(
        &self,
        node: &mut StructureNode,
        open: &mut Buffer<StructureFrame>,
        result: &mut u64,
    ) -> Result<bool> {
        if self.leaf(node, result)? {
            return Ok(true);
        }
        let Some(lhs) = take_object(&mut node.lhs) else { return Ok(true) };
        if open.len() >= MAX_DEPTH {
            let name = if self.compares { "StructuralEqual" } else { "StructuralHash" };
            plain_bail!(VALUE_ERROR, "{}: maximum stack depth ({}) exceeded", name, MAX_DEPTH);
        }
        // One reference of the walk, and one of the parent.
        let is_shared = node.is_in_shared || lhs.strong_count() > 2 || lhs.weak_count() > 1;
        let mut frame = StructureFrame {
            lhs,
            rhs: take_object(&mut node.rhs),
            kind: StructuralKind::TreeNode,
            region: node.region,
            inner: node.region,
            is_shared,
            place: 0,
            left: 0,
            keys: Buffer::new(),
            fields: Fields::default(),
            hash: 0,
        };
        let is_known = self.enter_frame(&mut frame, result)?;
        if !is_known {
            open.try_push(frame)?;
        }
        Ok(is_known)
    }

    /// Computes the result for a leaf; returns `false` for other values.
    fn leaf(&self, node: &StructureNode, result: &mut u64) -> Result<bool> {
        let known = if self.compares {
            compare_any_leaves(&node.lhs, &node.rhs, self.skip_tensor_content)?.map(u64::from)
        } else {
            hash_leaf(&node.lhs, self.skip_tensor_content)?
        };
        *result = known.unwrap_or_default();
        Ok(known.is_some())
    }

    /// Enters a container or object. Returns `true` if `result` was set, `false` if its children
    /// have to be visited.
    fn enter_frame(&self, frame: &mut StructureFrame, result: &mut u64) -> Result<bool> {
        let Some(container) = Container::of(&frame.lhs) else {
            return self.enter_object(frame, result);
        };
        (frame.place, frame.left) = (container.first()?, container.len());
        if self.compares {
            *result = 0;
            return Ok(!frame.have_same_len());
        }
        frame.hash = combine(type_key_hash(frame.lhs.type_index()), frame.left as u64);
        if container.is_table() {
            // Hashed tables are iterated by `keys` instead.
            frame.left = 0;
            self.put_keys(container, &mut frame.keys)?;
        }
        Ok(false)
    }

    fn enter_object(&self, frame: &mut StructureFrame, result: &mut u64) -> Result<bool> {
        let index = frame.lhs.type_index();
        let (entry, kind) = StructuralKind::of_comparable(index)?;
        frame.kind = kind;
        if self.is_known(frame, result)? {
            return Ok(true);
        }
        (frame.inner, frame.hash) = (frame.region.in_object(kind), entry.type_key_hash());
        let Some(hook) = self.hooks.of_type(index)? else {
            frame.fields = Fields::of(entry);
            return Ok(false);
        };
        *result = self.call_hook(&hook, frame)?;
        if !self.compares || *result != 0 {
            frame.hash = *result;
            self.leave(frame, result)?;
        }
        Ok(true)
    }

    /// Collects the entries of a map, sorted by key hash. Omits entries whose key is neither a
    /// number or string nor an object with a known hash.
    fn put_keys(&self, map: Container<'_>, keys: &mut Buffer<Key>) -> Result<()> {
        let (mut key, mut value) = (Any::NONE, Any::NONE);
        let mut place = map.first()?;
        while map.entry(place, &mut key, &mut value)? {
            let mut hash = hash_bits(&key);
            if let Some(object) = key.as_object()
                && hash.is_none()
            {
                value = Any::NONE;
                self.known.of(object, Side::Left, &mut value)?;
                hash = (!value.is_none()).then(|| value.view().payload_bits());
            }
            if let Some(hash) = hash {
                keys.try_push(Key { hash, place })?;
            }
            place = map.next(place)?;
        }
        sort(keys);
        Ok(())
    }

    /// Moves the next child into the node; returns `false` at the end.
    fn next(&self, frame: &mut StructureFrame, node: &mut StructureNode) -> Result<bool> {
        let StructureFrame { lhs, rhs, place, left, keys, hash, .. } = frame;
        let Some(container) = Container::of(lhs) else { return frame.next_field(node) };
        (node.region, node.is_in_shared) = (frame.inner, frame.is_shared);
        loop {
            let at = if let Some(at) = next_key(keys, hash) {
                at
            } else if *left > 0 {
                *left -= 1;
                core::mem::replace(place, container.next(*place)?)
            } else {
                return Ok(false);
            };
            let mut key = Any::NONE;
            // Skips entries that hooks have removed from a Dict.
            if !container.entry(at, &mut key, &mut node.lhs)? {
                continue;
            }
            if let Some(right) = rhs.as_ref().and_then(Container::of) {
                self.known.to_right(&mut key)?;
                if !right.value_of(&key, &mut node.rhs)? {
                    // A difference that ends the walk.
                    (node.lhs, node.rhs) = (Any::NONE, Any::from(false));
                }
            }
            return Ok(true);
        }
    }

    /// Computes the result for a container or object whose children have all been visited.
    fn leave(&self, frame: &StructureFrame, result: &mut u64) -> Result<()> {
        if Container::of(&frame.lhs).is_some() {
            *result = if self.compares { frame.have_same_len().into() } else { frame.hash };
            return Ok(());
        }
        let binds = match frame.kind {
            StructuralKind::DagNode => true,
            StructuralKind::FreeVar => frame.region.defines() || frame.is_same(),
            _ => false,
        };
        let is_variable = frame.kind == StructuralKind::FreeVar;
        let (right, known) = if let Some(rhs) = &frame.rhs {
            *result = (binds || !is_variable).into();
            (rhs, Any::new(rhs.clone()))
        } else {
            *result = if binds {
                let what = if is_variable { Counted::Variables } else { Counted::Nodes };
                combine(frame.hash, self.known.count(what)?)
            } else if is_variable {
                // A variable that is used but not defined is hashed by identity.
                frame.lhs.as_ptr().addr() as u64
            } else {
                frame.hash
            };
            (&frame.lhs, Any::from(*result as i64))
        };
        if binds || frame.rhs.is_none() && frame.may_be_revisited() {
            self.known.set(&frame.lhs, right, known)?;
        }
        Ok(())
    }

    /// Computes the result for an object by identity, bindings or cached hash; returns `false` if
    /// its fields must be visited.
    fn is_known(&self, frame: &StructureFrame, result: &mut u64) -> Result<bool> {
        let mut known = Any::NONE;
        let Some(rhs) = &frame.rhs else {
            if frame.may_be_revisited() {
                self.known.of(&frame.lhs, Side::Left, &mut known)?;
                *result = known.view().payload_bits();
            }
            return Ok(!known.is_none());
        };
        *result = frame.is_same().into();
        Ok(match frame.kind {
            StructuralKind::UniqueInstance => true,
            StructuralKind::ConstTreeNode => *result != 0,
            StructuralKind::DagNode | StructuralKind::FreeVar => {
                self.known.of(&frame.lhs, Side::Left, &mut known)?;
                *result = known.as_object().is_some_and(|partner| partner.ptr_eq(rhs)).into();
                self.known.of(rhs, Side::Right, &mut known)?;
                !known.is_none()
            }
            StructuralKind::TreeNode | StructuralKind::Unsupported => false,
        })
    }

    /// Calls the hook for the type of a frame's object. The result does not include the
    /// contribution of the structural kind.
    fn call_hook(&self, hook: &Function, frame: &StructureFrame) -> Result<u64> {
        stack::nest(|| {
            let callback = callback(self.clone(), frame.inner)?;
            let seed = frame.hash as i64;
            let second = frame.rhs.as_ref().map_or(AnyView::from(seed), AnyView::from);
            let answer =
                hook.call_packed(&[AnyView::from(&frame.lhs), second, AnyView::from(&callback)])?;
            // A bool converts to an int, too.
            answer.get::<i64>().map(i64::cast_unsigned)
        })
    }
}

impl StructureFrame {
    fn next_field(&mut self, node: &mut StructureNode) -> Result<bool> {
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            field.read(&self.lhs, &mut node.lhs)?;
            if let Some(rhs) = &self.rhs {
                field.read(rhs, &mut node.rhs)?;
            }
            (node.region, node.is_in_shared) = (self.inner.in_field(field.flags()), false);
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns `true` if both sides are the same object.
    fn is_same(&self) -> bool {
        self.rhs.as_ref().is_some_and(|rhs| rhs.ptr_eq(&self.lhs))
    }

    /// Returns `true` if both containers have the same number of entries.
    fn have_same_len(&self) -> bool {
        self.rhs.as_ref().is_some_and(|rhs| len(rhs) == len(&self.lhs))
    }

    /// Returns `true` if the hash of an object must be cached: objects that are hashed by sequence
    /// number, and shared objects.
    fn may_be_revisited(&self) -> bool {
        matches!(self.kind, StructuralKind::FreeVar | StructuralKind::DagNode) || self.is_shared
    }
}

/// Returns the number of entries of a container.
#[inline(never)]
fn len(object: &ObjectRef) -> usize {
    Container::of(object).map_or(0, Container::len)
}

fn take_object(value: &mut Any) -> Option<ObjectRef> {
    core::mem::take(value).into_object().ok()
}

/// Combines key hashes into `hash` up to and including the next unique one, and returns the index
/// of its entry; `None` at the end. Values of keys with equal hashes have no defined order and are
/// ignored.
fn next_key(keys: &mut Buffer<Key>, hash: &mut u64) -> Option<usize> {
    let mut alike = 0;
    loop {
        let key = keys.pop()?;
        alike += 1;
        if keys.last() == Some(&key) {
            continue;
        }
        *hash = combine(*hash, key.hash);
        if alike == 1 {
            return Some(key.place);
        }
        alike = 0;
    }
}

/// Creates the callback passed to a hook, which compares two children of its objects or combines a
/// child into a hash.
fn callback(walk: StructureWalk, region: DefRegion) -> Result<Function> {
    const COMPARED: Types =
        Types::new(&[Type::AnyView, Type::AnyView, Type::Int, Type::AnyView], Type::Bool);
    const HASHED: Types = Types::new(&[Type::AnyView, Type::Int, Type::Int], Type::Int);
    Function::from_packed(move |args| {
        let types = if walk.compares { &COMPARED } else { &HASHED };
        let mut owned = NO_ARGUMENTS;
        convert("", types, None, args, &mut owned)?;
        // For a hash, the second argument is the hash so far.
        let [lhs, rhs, kind, _] = &owned;
        let region = region.in_callback(kind.view().payload_bits() as i32);
        let so_far = rhs.view().payload_bits();
        let result = walk.run(lhs, rhs, region)?;
        // Hashes are passed as signed integers with the same bits.
        Ok(if walk.compares {
            Any::from(result != 0)
        } else {
            Any::from(combine(so_far, result) as i64)
        })
    })
}

//! Equality and hash by one walk, for boards: it takes a third of the code of one for each.
#![forbid(unsafe_code)]

use core::cmp::Ordering;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::{plain_bail, stack};

use super::Options;
use super::compare_leaf::compare_any_leaves;
use super::hash_leaf::{hash_bits, hash_leaf};
use super::known::{Counted, Known, Side};
use crate::containers::Container;
use crate::dataclass::{combine, type_key_hash};
use crate::operation::{self, Type, Types};
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Fields, Hooks, MAX_DEPTH, sort};

/// As [`structural_equal`](super::structural_equal).
pub(super) fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    start(true, lhs, rhs, options).map(|equal| equal != 0)
}

/// As [`structural_hash`](super::structural_hash).
pub(super) fn hash(value: &Any, options: Options) -> Result<u64> {
    start(false, value, value, options)
}

#[inline(never)]
fn start(compares: bool, lhs: &Any, rhs: &Any, options: Options) -> Result<u64> {
    let hooks = Hooks::new(if compares { "__s_equal__" } else { "__s_hash__" });
    let skip_tensor_content = options.skip_tensor_content;
    let walk = Walk { compares, skip_tensor_content, hooks, known: Known::new()? };
    walk.run(lhs, rhs, options.region())
}

/// A walk, or the part of one that a hook asks for. The result for a value is its hash, or 1 when it equals the one on the
/// right.
#[derive(Clone)]
struct Walk {
    /// Whether it compares two values, and does not hash one.
    compares: bool,
    skip_tensor_content: bool,
    hooks: Hooks,
    /// Shared by all parts of a walk.
    known: Known,
}

/// A value to get to, and what is on its right side in a comparison.
struct Node {
    lhs: Any,
    rhs: Any,
    region: DefRegion,
    /// Whether a container that more than one way leads to is between here and the last object.
    is_in_shared: bool,
}

/// A container or object whose content the walk is in.
struct Frame {
    lhs: ObjectRef,
    rhs: Option<ObjectRef>,
    kind: StructuralKind,
    region: DefRegion,
    /// The region of what is inside.
    inner: DefRegion,
    /// Whether the walk may meet it again.
    is_shared: bool,
    /// The place of a container's next entry, and how many are left.
    place: usize,
    left: usize,
    /// The entries of a map that is hashed, the next one last.
    keys: Buffer<Key>,
    /// Those that are left of an object.
    fields: Fields,
    hash: u64,
}

/// An entry of a map that is hashed. They are ordered by their keys alone.
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
        // The smallest one sorts last.
        other.hash.cmp(&self.hash)
    }
}

impl Walk {
    /// The result for a value, children before parents. Nothing on the right counts in a hash.
    fn run(&self, lhs: &Any, rhs: &Any, region: DefRegion) -> Result<u64> {
        let rhs = if self.compares { rhs.clone() } else { Any::NONE };
        let mut node = Node { lhs: lhs.clone(), rhs, region, is_in_shared: false };
        let mut open = Buffer::<Frame>::new();
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

    /// Gets to a value, which is taken out of the node, and tells whether its result is known. Else that has to wait for what
    /// is inside.
    fn enter(&self, node: &mut Node, open: &mut Buffer<Frame>, result: &mut u64) -> Result<bool> {
        if self.leaf(node, result)? {
            return Ok(true);
        }
        let Some(lhs) = take_object(&mut node.lhs) else { return Ok(true) };
        if open.len() >= MAX_DEPTH {
            let name = if self.compares { "StructuralEqual" } else { "StructuralHash" };
            plain_bail!(VALUE_ERROR, "{}: maximum stack depth ({}) exceeded", name, MAX_DEPTH);
        }
        // The walk has one reference, and so has who leads to it.
        let is_shared = node.is_in_shared || lhs.strong_count() > 2 || lhs.weak_count() > 1;
        let mut frame = Frame {
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

    /// Whether a value has nothing inside, and its result then.
    fn leaf(&self, node: &Node, result: &mut u64) -> Result<bool> {
        let known = if self.compares {
            compare_any_leaves(&node.lhs, &node.rhs, self.skip_tensor_content)?.map(u64::from)
        } else {
            hash_leaf(&node.lhs, self.skip_tensor_content)?
        };
        *result = known.unwrap_or_default();
        Ok(known.is_some())
    }

    /// Gets to a container or object.
    fn enter_frame(&self, frame: &mut Frame, result: &mut u64) -> Result<bool> {
        let Some(container) = Container::of(&frame.lhs) else { return self.enter_object(frame, result) };
        (frame.place, frame.left) = (container.first(), container.len());
        if self.compares {
            *result = 0;
            return Ok(!frame.have_same_len());
        }
        frame.hash = combine(type_key_hash(frame.lhs.type_index()), frame.left as u64);
        if container.is_table() {
            // They tell what is left.
            frame.left = 0;
            self.put_keys(container, &mut frame.keys)?;
        }
        Ok(false)
    }

    fn enter_object(&self, frame: &mut Frame, result: &mut u64) -> Result<bool> {
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

    /// The keys of a map that have a hash whatever was hashed before: those of others leave their entries out.
    fn put_keys(&self, map: Container<'_>, keys: &mut Buffer<Key>) -> Result<()> {
        let (mut key, mut value) = (Any::NONE, Any::NONE);
        let mut place = map.first();
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
            place = map.next(place);
        }
        sort(keys);
        Ok(())
    }

    /// Gets what is next inside a value into the node; false when all has been met.
    fn next(&self, frame: &mut Frame, node: &mut Node) -> Result<bool> {
        let Frame { lhs, rhs, place, left, keys, hash, .. } = frame;
        let Some(container) = Container::of(lhs) else { return frame.next_field(node) };
        (node.region, node.is_in_shared) = (frame.inner, frame.is_shared);
        loop {
            let at = if let Some(at) = next_key(keys, hash) {
                at
            } else if *left > 0 {
                *left -= 1;
                core::mem::replace(place, container.next(*place))
            } else {
                return Ok(false);
            };
            let mut key = Any::NONE;
            // Entries that hooks have taken out of a Dict meanwhile do not count.
            if !container.entry(at, &mut key, &mut node.lhs)? {
                continue;
            }
            if let Some(right) = rhs.as_ref().and_then(Container::of) {
                self.known.to_right(&mut key)?;
                if !right.value_of(&key, &mut node.rhs)? {
                    // The walk ends with a difference.
                    (node.lhs, node.rhs) = (Any::NONE, Any::from(false));
                }
            }
            return Ok(true);
        }
    }

    /// The result for a value all of whose content has been met.
    fn leave(&self, frame: &Frame, result: &mut u64) -> Result<()> {
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
                // A variable that is used where it was not defined is nothing but itself.
                frame.lhs.as_ptr().addr() as u64
            } else {
                frame.hash
            };
            (&frame.lhs, Any::from(*result as i64))
        };
        if binds || frame.rhs.is_none() && frame.may_be_met_again() {
            self.known.set(&frame.lhs, right, known)?;
        }
        Ok(())
    }

    /// Whether an object need not be looked into, and its result then.
    fn is_known(&self, frame: &Frame, result: &mut u64) -> Result<bool> {
        let mut known = Any::NONE;
        let Some(rhs) = &frame.rhs else {
            if frame.may_be_met_again() {
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

    /// Asks the hook of a type. Its answer does not count what the kind of the type adds.
    fn call_hook(&self, hook: &Function, frame: &Frame) -> Result<u64> {
        stack::nest(|| {
            let callback = callback(self.clone(), frame.inner)?;
            let seed = frame.hash as i64;
            let second = frame.rhs.as_ref().map_or(AnyView::from(seed), AnyView::from);
            let answer = hook.call(&[AnyView::from(&frame.lhs), second, AnyView::from(&callback)])?;
            // A bool is an int, too.
            answer.get::<i64>().map(i64::cast_unsigned)
        })
    }
}

impl Frame {
    fn next_field(&mut self, node: &mut Node) -> Result<bool> {
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

    /// Whether both sides are one object.
    fn is_same(&self) -> bool {
        self.rhs.as_ref().is_some_and(|rhs| rhs.ptr_eq(&self.lhs))
    }

    /// Whether both containers have as many entries.
    fn have_same_len(&self) -> bool {
        self.rhs.as_ref().is_some_and(|rhs| len(rhs) == len(&self.lhs))
    }

    /// Whether the hash of an object has to be remembered. Those that count by their numbers always have to; that of
    /// another one, should it be met again after all, would be the same.
    fn may_be_met_again(&self) -> bool {
        matches!(self.kind, StructuralKind::FreeVar | StructuralKind::DagNode) || self.is_shared
    }
}

/// Number of entries of a container.
#[inline(never)]
fn len(object: &ObjectRef) -> usize {
    Container::of(object).map_or(0, Container::len)
}

fn take_object(value: &mut Any) -> Option<ObjectRef> {
    core::mem::take(value).into_object().ok()
}

/// Takes keys into a hash up to one that is alone with its own, and gives the place of that one. The values of others have
/// no order and do not count.
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

/// What a hook calls to compare two values inside its objects, or to take one inside its object into the hash so far.
fn callback(walk: Walk, region: DefRegion) -> Result<Function> {
    const COMPARED: Types = Types::new(&[Type::AnyView, Type::AnyView, Type::Int, Type::AnyView], Type::Bool);
    const HASHED: Types = Types::new(&[Type::AnyView, Type::Int, Type::Int], Type::Int);
    Function::from_packed(move |args| {
        let types = if walk.compares { &COMPARED } else { &HASHED };
        let mut owned = operation::NO_ARGUMENTS;
        operation::convert("", types, None, args, &mut owned)?;
        // In a hash, the second one is the hash so far.
        let [lhs, rhs, kind, _] = &owned;
        let region = region.in_callback(kind.view().payload_bits() as i32);
        let so_far = rhs.view().payload_bits();
        let result = walk.run(lhs, rhs, region)?;
        // Hashes travel as signed numbers with the same bits.
        Ok(if walk.compares { Any::from(result != 0) } else { Any::from(combine(so_far, result) as i64) })
    })
}

//! Equality and hash by one walk, for boards: it takes a third of the code of one for each.
#![forbid(unsafe_code)]

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::typed::{Callee, Signature, TypedFn};
use ferrite_core::{plain_bail, stack};

use super::Options;
use super::compare_leaf::compare_any_leaves;
use super::hash_leaf::{hash_bits, hash_leaf};
use super::known::{Counted, Known, Side};
use crate::containers::Container;
use crate::dataclass::{combine, type_key_hash};
use crate::operation::{self, Param};
use crate::structural::any_arg::AnyArg;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Fields, Hooks, MAX_DEPTH, sort};

/// As [`structural_equal`](super::structural_equal).
pub(super) fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    start(true, "__s_equal__", lhs.clone(), rhs.clone(), options).map(|equal| equal != 0)
}

/// As [`structural_hash`](super::structural_hash).
pub(super) fn hash(value: &Any, options: Options) -> Result<u64> {
    start(false, "__s_hash__", value.clone(), Any::NONE, options)
}

fn start(compares: bool, hooks: &str, lhs: Any, rhs: Any, options: Options) -> Result<u64> {
    let skip_tensor_content = options.skip_tensor_content;
    let walk = Walk { compares, skip_tensor_content, hooks: Hooks::new(hooks), known: Known::new()? };
    walk.run(Node { lhs, rhs, region: options.region(), is_in_shared: false })
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

impl Node {
    /// What the walk gets to in place of a value that one side lacks.
    fn difference() -> Self {
        let (lhs, rhs) = (Any::NONE, Any::from(false));
        Self { lhs, rhs, region: DefRegion::NONE, is_in_shared: false }
    }
}

/// A container or object whose content the walk is in.
struct Frame {
    lhs: ObjectRef,
    rhs: Any,
    kind: StructuralKind,
    region: DefRegion,
    /// The region of what is inside.
    inner: DefRegion,
    /// Whether the walk may meet it again.
    is_shared: bool,
    /// The place of a container's next entry, and how many are left.
    place: usize,
    left: usize,
    /// The entries of a map that is hashed, the next one last: inverted hashes of keys, and places.
    keys: Buffer<(u64, usize)>,
    /// Those that are left of an object.
    fields: Fields,
    hash: u64,
}

impl Walk {
    /// The result for a value, children before parents.
    fn run(&self, mut node: Node) -> Result<u64> {
        let mut open = Buffer::<Frame>::new();
        loop {
            let mut result = self.enter(node, &mut open)?;
            node = loop {
                let Some(frame) = open.last_mut() else { return Ok(result.unwrap_or_default()) };
                if let Some(result) = result {
                    if self.compares && result == 0 {
                        return Ok(0);
                    }
                    frame.hash = combine(frame.hash, result);
                }
                if let Some(child) = self.next(frame)? {
                    break child;
                }
                result = Some(self.leave(frame)?);
                open.truncate(open.len() - 1);
            };
        }
    }

    /// Gets to a value, and gives its result unless that has to wait for what is inside.
    fn enter(&self, node: Node, open: &mut Buffer<Frame>) -> Result<Option<u64>> {
        if let Some(result) = self.leaf(&node)? {
            return Ok(Some(result));
        }
        let Node { lhs, rhs, region, is_in_shared } = node;
        let Ok(lhs) = lhs.into_object() else { return Ok(Some(0)) };
        // The walk has one reference, and so has who leads to it.
        let is_shared = is_in_shared || lhs.strong_count() > 2 || lhs.weak_count() > 1;
        let mut frame = Frame {
            lhs,
            rhs,
            kind: StructuralKind::TreeNode,
            region,
            inner: region,
            is_shared,
            place: 0,
            left: 0,
            keys: Buffer::new(),
            fields: Fields::default(),
            hash: 0,
        };
        let result = match Container::of(&frame.lhs) {
            Some(_) => self.enter_container(&mut frame)?,
            None => self.enter_object(&mut frame)?,
        };
        if result.is_none() {
            if open.len() >= MAX_DEPTH {
                let name = if self.compares { "StructuralEqual" } else { "StructuralHash" };
                plain_bail!(VALUE_ERROR, "{}: maximum stack depth ({}) exceeded", name, MAX_DEPTH);
            }
            open.try_push(frame)?;
        }
        Ok(result)
    }

    /// The result for a value that has nothing inside.
    fn leaf(&self, node: &Node) -> Result<Option<u64>> {
        if self.compares {
            Ok(compare_any_leaves(&node.lhs, &node.rhs, self.skip_tensor_content)?.map(u64::from))
        } else {
            hash_leaf(&node.lhs, self.skip_tensor_content)
        }
    }

    fn enter_container(&self, frame: &mut Frame) -> Result<Option<u64>> {
        let Some(container) = Container::of(&frame.lhs) else { return Ok(None) };
        (frame.place, frame.left) = (container.first(), container.len());
        if self.compares {
            return Ok((!frame.have_same_len()).then_some(0));
        }
        frame.hash = combine(type_key_hash(frame.lhs.type_index()), frame.left as u64);
        if container.is_table() {
            // They tell what is left.
            frame.left = 0;
            frame.keys = self.keys_of(container)?;
        }
        Ok(None)
    }

    fn enter_object(&self, frame: &mut Frame) -> Result<Option<u64>> {
        let index = frame.lhs.type_index();
        let (entry, kind) = StructuralKind::of_comparable(index)?;
        frame.kind = kind;
        if let Some(known) = self.known_result(frame)? {
            return Ok(Some(known));
        }
        (frame.inner, frame.hash) = (frame.region.in_object(kind), entry.type_key_hash());
        let Some(hook) = self.hooks.of_type(index)? else {
            frame.fields = Fields::of(entry);
            return Ok(None);
        };
        frame.hash = self.call_hook(&hook, frame)?;
        if self.compares && frame.hash == 0 { Ok(Some(0)) } else { self.leave(frame).map(Some) }
    }

    /// The keys of a map that have a hash whatever was hashed before: those of others leave their entries out.
    fn keys_of(&self, map: Container<'_>) -> Result<Buffer<(u64, usize)>> {
        let mut keys = Buffer::new();
        let mut place = map.first();
        while let Some((key, _)) = map.entry(place)? {
            let hash = match hash_bits(&key) {
                Some(hash) => Some(hash),
                None => self.known.of_left(&key)?.map(|hash| hash.view().payload_bits()),
            };
            if let Some(hash) = hash {
                keys.try_push((!hash, place))?;
            }
            place = map.next(place);
        }
        sort(&mut keys);
        Ok(keys)
    }

    /// What is next inside a value.
    fn next(&self, frame: &mut Frame) -> Result<Option<Node>> {
        let Frame { lhs, rhs, place, left, keys, hash, .. } = frame;
        let Some(container) = Container::of(lhs) else { return frame.next_field() };
        loop {
            let at = if let Some(at) = next_key(keys, hash) {
                at
            } else if *left > 0 {
                *left -= 1;
                core::mem::replace(place, container.next(*place))
            } else {
                return Ok(None);
            };
            // Entries that hooks have taken out of a Dict meanwhile do not count.
            let Some((key, lhs)) = container.entry(at)? else { continue };
            let rhs = match rhs.as_object().and_then(Container::of) {
                Some(right) => match right.value_of(&self.known.of_left(&key)?.unwrap_or(key).view())? {
                    Some(rhs) => rhs,
                    None => return Ok(Some(Node::difference())),
                },
                None => Any::NONE,
            };
            return Ok(Some(Node { lhs, rhs, region: frame.inner, is_in_shared: frame.is_shared }));
        }
    }

    /// The result for a value all of whose content has been met.
    fn leave(&self, frame: &Frame) -> Result<u64> {
        if Container::of(&frame.lhs).is_some() {
            return Ok(if self.compares { frame.have_same_len().into() } else { frame.hash });
        }
        let binds = match frame.kind {
            StructuralKind::DagNode => true,
            StructuralKind::FreeVar => frame.region.defines() || (self.compares && frame.is_same()),
            _ => false,
        };
        if self.compares {
            if let Some(rhs) = frame.rhs.as_object().filter(|_| binds) {
                self.known.set(&frame.lhs, rhs, frame.rhs.clone())?;
            }
            return Ok((binds || frame.kind != StructuralKind::FreeVar).into());
        }
        let hash = match frame.kind {
            StructuralKind::DagNode => combine(frame.hash, self.known.count(Counted::Nodes)?),
            StructuralKind::FreeVar if binds => combine(frame.hash, self.known.count(Counted::Variables)?),
            // A variable that is used where it was not defined is nothing but itself.
            StructuralKind::FreeVar => frame.lhs.as_ptr().addr() as u64,
            _ => frame.hash,
        };
        if frame.may_be_met_again() {
            self.known.set(&frame.lhs, &frame.lhs, Any::from(hash as i64))?;
        }
        Ok(hash)
    }

    /// The result for an object that need not be looked into.
    fn known_result(&self, frame: &Frame) -> Result<Option<u64>> {
        if !self.compares {
            return Ok(match frame.may_be_met_again() {
                true => self.known.of(&frame.lhs, Side::Left)?.map(|hash| hash.view().payload_bits()),
                false => None,
            });
        }
        Ok(match frame.kind {
            StructuralKind::UniqueInstance => Some(frame.is_same().into()),
            StructuralKind::ConstTreeNode => frame.is_same().then_some(1),
            StructuralKind::DagNode | StructuralKind::FreeVar => self.are_bound(frame)?,
            StructuralKind::TreeNode | StructuralKind::Unsupported => None,
        })
    }

    /// Whether two variables or nodes of a graph stand for each other; None when neither stands for any.
    fn are_bound(&self, frame: &Frame) -> Result<Option<u64>> {
        let Some(rhs) = frame.rhs.as_object() else { return Ok(None) };
        Ok(match self.known.of(&frame.lhs, Side::Left)? {
            Some(partner) => Some(partner.as_object().is_some_and(|partner| partner.ptr_eq(rhs)).into()),
            None => self.known.of(rhs, Side::Right)?.map(|_| 0),
        })
    }

    /// Asks the hook of a type. Its answer does not count what the kind of the type adds.
    fn call_hook(&self, hook: &Function, frame: &Frame) -> Result<u64> {
        stack::nest(|| {
            let callback = callback(self.clone(), frame.inner)?;
            let seed = Any::from(frame.hash as i64);
            let second = if self.compares { &frame.rhs } else { &seed };
            let answer = hook.call(&[AnyView::from(&frame.lhs), second.view(), AnyView::from(&callback)])?;
            if self.compares {
                answer.get::<bool>().map(u64::from)
            } else {
                answer.get::<i64>().map(i64::cast_unsigned)
            }
        })
    }
}

impl Frame {
    fn next_field(&mut self) -> Result<Option<Node>> {
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            let (mut lhs, mut rhs) = (Any::NONE, Any::NONE);
            field.read(&self.lhs, &mut lhs)?;
            if let Some(right) = self.rhs.as_object() {
                field.read(right, &mut rhs)?;
            }
            let region = self.inner.in_field(field.flags());
            return Ok(Some(Node { lhs, rhs, region, is_in_shared: false }));
        }
        Ok(None)
    }

    /// Whether both sides are one object.
    fn is_same(&self) -> bool {
        self.rhs.as_object().is_some_and(|rhs| rhs.ptr_eq(&self.lhs))
    }

    /// Whether both containers have as many entries.
    fn have_same_len(&self) -> bool {
        let len = |object| Container::of(object).map(Container::len);
        len(&self.lhs) == self.rhs.as_object().and_then(len)
    }

    /// Whether the hash of an object has to be remembered. Those that count by their numbers always have to; that of
    /// another one, should it be met again after all, would be the same.
    fn may_be_met_again(&self) -> bool {
        matches!(self.kind, StructuralKind::FreeVar | StructuralKind::DagNode) || self.is_shared
    }
}

/// Takes keys into a hash up to one that is alone with its own, and gives the place of that one. The values of others have
/// no order and do not count.
fn next_key(keys: &mut Buffer<(u64, usize)>, hash: &mut u64) -> Option<usize> {
    loop {
        let (inverted, place) = keys.pop()?;
        *hash = combine(*hash, !inverted);
        let len = keys.len();
        while keys.last().is_some_and(|(other, _)| *other == inverted) {
            keys.pop();
        }
        if keys.len() == len {
            return Some(place);
        }
    }
}

/// What a hook calls to compare two values inside its objects, or to take one inside its object into the hash so far.
fn callback(walk: Walk, region: DefRegion) -> Result<Function> {
    type Compare = fn(AnyArg, AnyArg, i32, AnyArg) -> Result<bool>;
    type Hash = fn(AnyArg, u64, i32) -> Result<i64>;
    const COMPARE: &Signature = <Compare as TypedFn<(AnyArg, AnyArg, i32, AnyArg)>>::SIGNATURE;
    const HASH: &Signature = <Hash as TypedFn<(AnyArg, u64, i32)>>::SIGNATURE;
    const COMPARED: [Param; 4] = [Param::Any, Param::Any, Param::Integer, Param::Any];
    const HASHED: [Param; 3] = [Param::Any, Param::Integer, Param::Integer];
    Function::from_packed(move |args| {
        let (signature, params) = if walk.compares { (COMPARE, &COMPARED[..]) } else { (HASH, &HASHED[..]) };
        let [lhs, second, kind, _] = operation::owned(&Callee { name: "", signature }, params, args)?;
        let region = region.in_callback(kind.view().payload_bits() as i32);
        let (rhs, so_far) =
            if walk.compares { (second, 0) } else { (Any::NONE, second.view().payload_bits()) };
        let result = walk.run(Node { lhs, rhs, region, is_in_shared: false })?;
        // Hashes travel as signed numbers with the same bits.
        Ok(if walk.compares { Any::from(result != 0) } else { Any::from(combine(so_far, result) as i64) })
    })
}

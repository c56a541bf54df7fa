//! Hashes of whole values, the same in every process, which agree with recursive equality.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskCompareOff, kTVMFFIFieldFlagBitMaskHashOff};
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::memory::Buffer;
use ferrite_core::{plain_bail, type_index, type_table};

use super::hash_leaf::{combine, hash_leaf, type_key_hash};
use crate::walk::{Children, ChildrenKind, Entered, Fold, HookState, Hooks, Seen, Slot, fold, lend, sort};

/// The hash of a value and everything in it, equal for values that [`recursive_eq`](super::recursive_eq) finds equal.
///
/// Entries of maps count without their order, fields unless they are flagged as not hashed or not compared. A type may
/// have the hook `__ffi_hash__`.
///
/// # Errors
///
/// ValueError for an object whose type compares by hooks, but has none for hashing, and beyond the depths of
/// [`crate::walk`]; those of hooks and getters; MemoryError.
///
/// # Upstream
///
/// `RecursiveHash` in `extra/dataclass.h`.
pub fn recursive_hash(value: &Any) -> Result<i64> {
    let mut hasher = Hasher {
        hooks: Hooks::new("__ffi_hash__"),
        eq_hooks: Hooks::new("__ffi_eq__"),
        compare_hooks: Hooks::new("__ffi_compare__"),
        ..Hasher::default()
    };
    fold(&mut hasher, value.clone()).map(|hash| hash as i64)
}

#[derive(Default)]
struct Hasher {
    seen: Seen<State>,
    hooks: Hooks,
    eq_hooks: Hooks,
    compare_hooks: Hooks,
}

/// What is known of an object.
enum State {
    Unknown,
    Open,
    Done(u64),
}

struct Frame {
    value: Any,
    children: Children,
    sum: Sum,
}

/// The hashes of the children so far.
struct Sum {
    hash: u64,
    /// The hash of the key whose value comes next.
    key: Option<u64>,
    /// The hashes of a map's entries.
    entries: Buffer<u64>,
}

impl Sum {
    /// Takes in the hash of the child at a place.
    #[inline]
    fn add(&mut self, kind: ChildrenKind, place: usize, hash: u64) -> Result<()> {
        match (kind, self.key.take()) {
            (ChildrenKind::Sequence, _) => self.hash = combine(self.hash, combine(hash, place as u64)),
            (ChildrenKind::Fields, _) => self.hash = combine(self.hash, hash),
            (ChildrenKind::Map, None) => self.key = Some(hash),
            (ChildrenKind::Map, Some(key)) => self.entries.try_push(combine(key, hash))?,
        }
        Ok(())
    }
}

impl HookState for Hasher {}

impl Fold for Hasher {
    type Node = Any;
    type Frame = Frame;
    type Value = u64;
    const NAME: &'static str = "ObjectGraphDFS";

    fn enter(&mut self, value: Any) -> Result<Entered<Frame, u64>> {
        if let Some(hash) = hash_leaf(&value)? {
            return Ok(Entered::Value(hash));
        }
        match self.seen.get(&value) {
            Some(State::Done(hash)) => return Ok(Entered::Value(*hash)),
            // An object inside itself counts as its type.
            Some(State::Open) => return Ok(Entered::Value(type_key_hash(value.type_index()))),
            Some(State::Unknown) | None => {}
        }
        if let Some(hash) = self.hash_by_hook(&value)? {
            return Ok(Entered::Value(hash));
        }
        self.refuse_half_a_contract(&value)?;
        let skipped = kTVMFFIFieldFlagBitMaskHashOff | kTVMFFIFieldFlagBitMaskCompareOff;
        let children = Children::of(&value, i64::from(skipped))?;
        let sum = Sum { hash: first_hash(&value, &children), key: None, entries: Buffer::new() };
        self.seen.set(&value, State::Open)?;
        Ok(Entered::Frame(Frame { value, children, sum }))
    }

    /// The next child that has something inside; others are taken in on the way.
    fn next(&mut self, Frame { children, sum, .. }: &mut Frame) -> Result<Option<Any>> {
        while let Some(child) = children.peek() {
            let Some(hash) = hash_leaf(child)? else { return Ok(children.take()) };
            sum.add(children.kind, children.passed(), hash)?;
            children.advance();
        }
        Ok(None)
    }

    fn feed(&mut self, frame: &mut Frame, hash: u64) -> Result<ControlFlow<u64>> {
        frame.sum.add(frame.children.kind, frame.children.passed().saturating_sub(1), hash)?;
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut Frame) -> Result<u64> {
        sort(&mut frame.sum.entries);
        let hash = frame.sum.entries.iter().fold(frame.sum.hash, |hash, entry| combine(hash, *entry));
        self.seen.set(&frame.value, State::Done(hash))?;
        Ok(hash)
    }

    fn abandon(&mut self, frame: Frame) {
        self.forget(&frame.value);
    }
}

/// What the hash of an object starts with: its type, and for containers the size.
fn first_hash(value: &Any, children: &Children) -> u64 {
    let seed = type_key_hash(value.type_index());
    let count = children.len() as u64;
    match children.kind {
        ChildrenKind::Sequence => combine(seed, count),
        ChildrenKind::Map => combine(seed, count / 2),
        ChildrenKind::Fields => seed,
    }
}

impl Hasher {
    fn forget(&mut self, value: &Any) {
        // Memory is needed only for objects that were not met before.
        let _ = self.seen.set(value, State::Unknown);
    }

    fn hash_by_hook(&mut self, value: &Any) -> Result<Option<u64>> {
        let Some(hook) = self.hooks.of(value)? else { return Ok(None) };
        self.seen.set(value, State::Open)?;
        let answer =
            lend(self, Self::callback, |callback| hook.call(&[value.view(), callback.into()])?.get::<i64>());
        match answer {
            Ok(hash) => {
                self.seen.set(value, State::Done(hash as u64))?;
                Ok(Some(hash as u64))
            }
            Err(error) => {
                self.forget(value);
                Err(error)
            }
        }
    }

    fn callback(slot: Slot<Self>) -> Result<Function> {
        Function::from_typed(move |value: Any| -> Result<i64> {
            slot.with(|hasher| fold(hasher, value).map(|hash| hash as i64))
        })
    }

    /// A type that says when its objects are equal must say how they are hashed.
    fn refuse_half_a_contract(&self, value: &Any) -> Result<()> {
        let index = value.type_index();
        if index < type_index::STATIC_OBJECT_END
            || (self.eq_hooks.value(index).is_none() && self.compare_hooks.value(index).is_none())
        {
            return Ok(());
        }
        plain_bail!(
            VALUE_ERROR,
            "RecursiveHash: type '{}' defines __ffi_eq__ or __ffi_compare__ but not __ffi_hash__. Add a __ffi_hash__ \
             hook to maintain the invariant RecursiveEq(a,b) => RecursiveHash(a)==RecursiveHash(b).",
            type_table::type_key_of(index)
        )
    }
}

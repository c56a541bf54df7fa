//! Recursive hashes that are stable across processes and agree with recursive equality.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::ControlFlow;

use ferrite_core::abi::{
    kTVMFFIFieldFlagBitMaskCompareOff, kTVMFFIFieldFlagBitMaskHashOff, type_index,
};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};

use super::hash_leaf::{combine, hash_leaf, type_key_hash};
use crate::walk::{
    CallbackState, Children, ChildrenKind, Entered, Fold, HookState, Hooks, IdentityMap,
    MaybeOwned, fold, prefetch_next, reserve_frame, sort, with_callback,
};

/// Returns the recursive hash of a value. Values that are equal by
/// [`recursive_eq`](super::recursive_eq) have equal hashes.
///
/// The hash does not depend on the entry order of maps, nor on fields flagged as not hashed or not
/// compared. The `__ffi_hash__` hook of a type replaces the hash of its fields.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::{dataclass, json};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (a, b) = (json::parse(br#"{"x": 1, "y": 2}"#)?, json::parse(br#"{"y": 2, "x": 1}"#)?);
/// assert_eq!(dataclass::recursive_hash(&a)?, dataclass::recursive_hash(&b)?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError for an object whose type has an equality or comparison hook but no hash hook, and
/// beyond the maximum depths of [`crate::walk`]; errors of hooks and getters; MemoryError.
///
/// # Upstream
/// `RecursiveHash` in `extra/dataclass.h`.
pub fn recursive_hash(value: &Any) -> Result<i64> {
    let mut hasher = RecursiveHasher {
        hooks: Hooks::new("__ffi_hash__"),
        eq_hooks: Hooks::new("__ffi_eq__"),
        compare_hooks: Hooks::new("__ffi_compare__"),
        ..RecursiveHasher::default()
    };
    hasher.hash(MaybeOwned::Borrowed(value)).map(|hash| hash as i64)
}

#[derive(Default)]
struct RecursiveHasher {
    /// States of the objects that the walk may reach again.
    visited: IdentityMap<HashState>,
    /// Hashes of the entries of all maps on the current path, outermost map first.
    entries: Buffer<u64>,
    hooks: Hooks,
    eq_hooks: Hooks,
    compare_hooks: Hooks,
}

/// State of a visited object.
enum HashState {
    Unknown,
    Open,
    Done(u64),
}

/// A walk that hashes a borrowed value.
struct HashWalk<'h, 'w> {
    hasher: &'h mut RecursiveHasher,
    borrowed: PhantomData<&'w Any>,
}

struct HashFrame<'w> {
    children: Children<'w>,
    hash: u64,
    /// Hash of the key whose value is hashed next.
    key: Option<u64>,
    /// Index of the object's first entry in `RecursiveHasher::entries`.
    first_entry: usize,
}

impl HookState for RecursiveHasher {}

impl<'w> Fold for HashWalk<'_, 'w> {
    type Node = MaybeOwned<'w, ObjectRef>;
    type Frame = HashFrame<'w>;
    type Value = u64;
    const NAME: &'static str = "ObjectGraphDFS";

    /// Enters an object with children. Never called with a leaf.
    fn enter(
        &mut self,
        object: MaybeOwned<'w, ObjectRef>,
        open: &mut Buffer<HashFrame<'w>>,
    ) -> Result<Entered<HashFrame<'w>, u64>> {
        let hasher = &mut *self.hasher;
        let is_unshared = object.is_unshared();
        match if is_unshared { None } else { hasher.visited.get(&object) } {
            Some(HashState::Done(hash)) => return Ok(Entered::Value(*hash)),
            // An object inside itself counts as its type.
            Some(HashState::Open) => return Ok(Entered::Value(type_key_hash(object.type_index()))),
            Some(HashState::Unknown) | None => {}
        }
        if let Some(hash) = hasher.hash_by_hook(&object)? {
            return Ok(Entered::Value(hash));
        }
        hasher.refuse_half_a_contract(object.type_index())?;
        let skipped = kTVMFFIFieldFlagBitMaskHashOff | kTVMFFIFieldFlagBitMaskCompareOff;
        let first_entry = hasher.entries.len();
        let room = reserve_frame::<Self>(open)?;
        let children = Children::of(object, i64::from(skipped))?;
        let frame = room.fill(HashFrame { children, hash: 0, key: None, first_entry });
        if !is_unshared {
            hasher.visited.insert(frame.children.object(), HashState::Open)?;
        }
        frame.hash = first_hash(&frame.children);
        Ok(Entered::Open)
    }

    /// Hashes leaves, then returns the next child that is not a leaf.
    fn next(&mut self, frame: &mut HashFrame<'w>) -> Result<Option<MaybeOwned<'w, ObjectRef>>> {
        match frame.children.kind {
            ChildrenKind::Map => frame.hash_entries(&mut self.hasher.entries)?,
            ChildrenKind::Sequence => {
                frame.hash_leaves(|place, hash| combine(hash, place as u64))?
            }
            ChildrenKind::Fields => frame.hash_leaves(|_, hash| hash)?,
        }
        Ok(frame.children.take().and_then(MaybeOwned::into_object))
    }

    fn feed(&mut self, frame: &mut HashFrame<'w>, hash: u64) -> Result<ControlFlow<u64>> {
        match frame.children.kind {
            ChildrenKind::Map => add_to_entries(&mut frame.key, hash, &mut self.hasher.entries)?,
            ChildrenKind::Sequence => {
                let place = frame.children.visited_count().saturating_sub(1);
                frame.hash = combine(frame.hash, combine(hash, place as u64));
            }
            ChildrenKind::Fields => frame.hash = combine(frame.hash, hash),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut HashFrame<'w>) -> Result<u64> {
        let RecursiveHasher { visited, entries, .. } = &mut *self.hasher;
        let own = entries.get_mut(frame.first_entry..).unwrap_or_default();
        sort(own);
        let hash = own.iter().fold(frame.hash, |hash, entry| combine(hash, *entry));
        entries.truncate(frame.first_entry);
        let object = frame.children.object();
        if !object.is_unshared() {
            visited.insert(object, HashState::Done(hash))?;
        }
        Ok(hash)
    }

    fn abandon(&mut self, frame: HashFrame<'w>) {
        self.hasher.entries.truncate(frame.first_entry);
        self.hasher.visited.update(frame.children.object(), HashState::Unknown);
    }
}

impl HashFrame<'_> {
    /// Hashes elements or field values up to the next one that is not a leaf. `count` computes the
    /// number to mix in from the child's index and hash.
    fn hash_leaves(&mut self, count: impl Fn(usize, u64) -> u64) -> Result<()> {
        let (mut hash, mut place) = (self.hash, self.children.visited_count());
        for child in self.children.contiguous() {
            prefetch_next(child);
            let Some(one) = hash_leaf(child)? else { break };
            hash = combine(hash, count(place, one));
            place += 1;
        }
        self.hash = hash;
        self.children.advance(place - self.children.visited_count());
        Ok(())
    }

    /// Hashes keys and values up to the next one that is not a leaf.
    fn hash_entries(&mut self, entries: &mut Buffer<u64>) -> Result<()> {
        loop {
            let (mut taken, run) = (0, self.children.contiguous());
            for child in run {
                prefetch_next(child);
                let Some(hash) = hash_leaf(child)? else { break };
                add_to_entries(&mut self.key, hash, entries)?;
                taken += 1;
            }
            let is_whole = taken > 0 && taken == run.len();
            self.children.advance(taken);
            if !is_whole {
                return Ok(());
            }
        }
    }
}

/// Stores the hash of a key; for a value, appends the hash of the entry, combined from the stored
/// hash of its key and its own.
fn add_to_entries(key: &mut Option<u64>, hash: u64, entries: &mut Buffer<u64>) -> Result<()> {
    match key.take() {
        None => *key = Some(hash),
        Some(key) => entries.try_push(combine(key, hash))?,
    }
    Ok(())
}

/// Returns the initial hash of an object, of its type and, for containers, its length.
fn first_hash(children: &Children<'_>) -> u64 {
    let seed = type_key_hash(children.object().type_index());
    let count = children.len() as u64;
    match children.kind {
        ChildrenKind::Sequence => combine(seed, count),
        ChildrenKind::Map => combine(seed, count / 2),
        ChildrenKind::Fields => seed,
    }
}

impl RecursiveHasher {
    fn hash(&mut self, value: MaybeOwned<'_>) -> Result<u64> {
        if let Some(hash) = hash_leaf(&value)? {
            return Ok(hash);
        }
        match value.into_object() {
            Some(object) => fold(&mut HashWalk { hasher: self, borrowed: PhantomData }, object),
            None => Ok(0),
        }
    }

    fn hash_by_hook(&mut self, object: &MaybeOwned<'_, ObjectRef>) -> Result<Option<u64>> {
        let Some(hook) = self.hooks.of_type(object.type_index())? else { return Ok(None) };
        self.visited.insert(object, HashState::Open)?;
        let answer = with_callback(self, Self::callback, |callback| {
            hook.call_packed(&[AnyView::from(&**object), AnyView::from(callback)])?.get::<i64>()
        });
        match answer {
            Ok(hash) => {
                self.visited.insert(object, HashState::Done(hash as u64))?;
                Ok(Some(hash as u64))
            }
            Err(error) => {
                self.visited.update(object, HashState::Unknown);
                Err(error)
            }
        }
    }

    fn callback(slot: CallbackState<Self>) -> Result<Function> {
        Function::from_typed(move |value: Any| -> Result<i64> {
            slot.with(|hasher| hasher.hash(MaybeOwned::Owned(value)).map(|hash| hash as i64))
        })
    }

    /// Returns ValueError if a type has a hook for equality or comparison, but none for hashes.
    fn refuse_half_a_contract(&self, index: i32) -> Result<()> {
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

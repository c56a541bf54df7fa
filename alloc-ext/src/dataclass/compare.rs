//! Recursive equality and ordering of values.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};

use super::compare_children::Children;
use super::compare_leaf::compare_leaves;
use crate::walk::{
    CallbackState, Entered, Fold, HookState, Hooks, IdentityMap, MaybeOwned, fold, reserve_frame,
    with_callback,
};

/// Returns `true` if two values have the same type and equal content, recursively.
///
/// Strings and bytes compare by content, NaN equals NaN, and maps compare regardless of entry
/// order. Objects compare by the `__ffi_eq__` or `__ffi_compare__` hook of their type, or else
/// field by field, skipping fields flagged as not compared. Isomorphic cyclic values are equal.
///
/// # Errors
/// Errors of hooks and getters; ValueError beyond the maximum depths of [`crate::walk`];
/// MemoryError.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::{dataclass, json};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (lhs, rhs) = (json::parse(b"[1, 2]")?, json::parse(b"[1, 3]")?);
/// assert!(dataclass::recursive_eq(&lhs, &lhs)? && !dataclass::recursive_eq(&lhs, &rhs)?);
/// assert!(dataclass::recursive_compare(&lhs, &rhs)? < 0);
/// assert_ne!(dataclass::recursive_hash(&lhs)?, dataclass::recursive_hash(&rhs)?);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `RecursiveEq` in `extra/dataclass.h`.
pub fn recursive_eq(lhs: &Any, rhs: &Any) -> Result<bool> {
    compare(lhs, rhs, true).map(|order| order == 0)
}

/// Compares two values. Returns a negative number, zero or a positive number. None comes first;
/// sequences and objects are ordered by their first different element or field, or by the
/// `__ffi_compare__` hook of their type.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::{dataclass, json};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (small, large) = (json::parse(b"[1, [2]]")?, json::parse(b"[1, [3]]")?);
/// assert_eq!(dataclass::recursive_compare(&small, &large)?.signum(), -1);
/// let other = json::parse(b"\"text\"")?;
/// assert!(dataclass::recursive_compare(&small, &other).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// TypeError for different types, unequal maps, NaN and other values without an order; ValueError
/// for a cycle; errors of [`recursive_eq`].
///
/// # Upstream
/// `RecursiveLt`, `RecursiveLe`, `RecursiveGt` and `RecursiveGe` in `extra/dataclass.h`.
pub fn recursive_compare(lhs: &Any, rhs: &Any) -> Result<i32> {
    compare(lhs, rhs, false)
}

fn compare(lhs: &Any, rhs: &Any, equality_only: bool) -> Result<i32> {
    let mut comparer = RecursiveComparer {
        equality_only,
        eq_hooks: Hooks::new("__ffi_eq__"),
        compare_hooks: Hooks::new("__ffi_compare__"),
        ..RecursiveComparer::default()
    };
    comparer.compare(MaybeOwned::Borrowed(lhs), MaybeOwned::Borrowed(rhs))
}

/// Two objects of the same type, being compared.
type Pair<'w> = (MaybeOwned<'w, ObjectRef>, MaybeOwned<'w, ObjectRef>);

type Kept = Option<ObjectRef>;

#[derive(Default)]
struct RecursiveComparer {
    equality_only: bool,
    /// Visited pairs of objects. The value is `true` while the pair is on the current path.
    open: IdentityMap<bool, (Kept, Kept)>,
    eq_hooks: Hooks,
    compare_hooks: Hooks,
}

/// A walk that compares two borrowed values.
struct CompareWalk<'c, 'w> {
    comparer: &'c mut RecursiveComparer,
    borrowed: PhantomData<&'w Any>,
    /// Order of the first pair of leaves that differ; 0 if there is none yet.
    order: i32,
}

struct CompareFrame<'w> {
    children: Children<'w>,
    /// Index of the pair in `RecursiveComparer::open`; `None` if the walk cannot reach the pair
    /// again.
    place: Option<usize>,
}

impl HookState for RecursiveComparer {}

impl<'w> Fold for CompareWalk<'_, 'w> {
    type Node = Pair<'w>;
    type Frame = CompareFrame<'w>;
    type Value = i32;
    const NAME: &'static str = "RecursiveCompare";

    fn enter(
        &mut self,
        pair: Pair<'w>,
        open: &mut Buffer<CompareFrame<'w>>,
    ) -> Result<Entered<CompareFrame<'w>, i32>> {
        // A pair on the current path can be reached again only if both objects are shared.
        let is_unshared = pair.0.is_unshared() || pair.1.is_unshared();
        if !is_unshared && self.comparer.open.get(&pair) == Some(&true) {
            if self.comparer.equality_only {
                return Ok(Entered::Value(0));
            }
            plain_bail!(VALUE_ERROR, "RecursiveCompare: cyclic reference detected in ordering");
        }
        if let Some(order) = self.comparer.compare_by_hook(&pair)? {
            return Ok(Entered::Value(order));
        }
        let room = reserve_frame::<Self>(open)?;
        let place =
            if is_unshared { None } else { Some(self.comparer.open.insert_indexed(&pair, true)?) };
        let children = Children::of(pair).inspect_err(|_| self.comparer.close(place))?;
        room.fill(CompareFrame { children, place });
        Ok(Entered::Open)
    }

    fn next(&mut self, frame: &mut CompareFrame<'w>) -> Result<Option<Pair<'w>>> {
        frame.children.next(self.comparer.equality_only, &mut self.order)
    }

    fn feed(&mut self, _: &mut CompareFrame<'w>, order: i32) -> Result<ControlFlow<i32>> {
        Ok(if order == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(order) })
    }

    fn leave(&mut self, frame: &mut CompareFrame<'w>) -> Result<i32> {
        self.comparer.close(frame.place);
        let order = if self.order == 0 { frame.children.order_of_len() } else { self.order };
        if order != 0 { self.stopped(core::slice::from_ref(frame), order) } else { Ok(0) }
    }

    fn stopped(&mut self, open: &[CompareFrame<'w>], order: i32) -> Result<i32> {
        // The order of entries in a map is not significant, so a difference there orders nothing.
        if !self.comparer.equality_only && open.iter().any(|frame| frame.children.is_map()) {
            plain_bail!(TYPE_ERROR, "Cannot order Map/Dict values");
        }
        Ok(order)
    }

    fn abandon(&mut self, frame: CompareFrame<'w>) {
        self.comparer.close(frame.place);
    }
}

impl RecursiveComparer {
    fn compare(&mut self, lhs: MaybeOwned<'_>, rhs: MaybeOwned<'_>) -> Result<i32> {
        if let Some(order) = compare_leaves(&lhs, &rhs, self.equality_only)? {
            return Ok(order);
        }
        match (lhs.into_object(), rhs.into_object()) {
            (Some(lhs), Some(rhs)) => fold(
                &mut CompareWalk { comparer: self, borrowed: PhantomData, order: 0 },
                (lhs, rhs),
            ),
            _ => Ok(1),
        }
    }

    /// Marks a pair as no longer on the current path.
    fn close(&mut self, place: Option<usize>) {
        if let Some(place) = place {
            self.open.set_at(place, false);
        }
    }

    fn compare_by_hook(&mut self, pair: &Pair<'_>) -> Result<Option<i32>> {
        let index = pair.0.type_index();
        if index < type_index::STATIC_OBJECT_END {
            return Ok(None);
        }
        if self.equality_only
            && let Some(hook) = self.eq_hooks.of_type(index)?
        {
            let equal = self
                .call_hook(pair, Self::eq_callback, |args| hook.call_packed(args)?.get::<bool>());
            return equal.map(|equal| Some(i32::from(!equal)));
        }
        let Some(hook) = self.compare_hooks.of_type(index)? else { return Ok(None) };
        self.call_hook(pair, Self::compare_callback, |args| hook.call_packed(args)?.get::<i32>())
            .map(Some)
    }

    fn call_hook<R>(
        &mut self,
        pair: &Pair<'_>,
        make_callback: fn(CallbackState<Self>) -> Result<Function>,
        call: impl FnOnce(&[AnyView<'_>]) -> Result<R>,
    ) -> Result<R> {
        let place = self.open.insert_indexed(pair, true)?;
        let answer = with_callback(self, make_callback, |callback| {
            call(&[AnyView::from(&*pair.0), AnyView::from(&*pair.1), AnyView::from(callback)])
        });
        self.open.set_at(place, false);
        answer
    }

    fn eq_callback(slot: CallbackState<Self>) -> Result<Function> {
        Function::from_typed(move |lhs: Any, rhs: Any| -> Result<bool> {
            slot.with(|comparer| {
                comparer
                    .compare(MaybeOwned::Owned(lhs), MaybeOwned::Owned(rhs))
                    .map(|order| order == 0)
            })
        })
    }

    fn compare_callback(slot: CallbackState<Self>) -> Result<Function> {
        Function::from_typed(move |lhs: Any, rhs: Any| -> Result<i32> {
            slot.with(|comparer| comparer.compare(MaybeOwned::Owned(lhs), MaybeOwned::Owned(rhs)))
        })
    }
}

//! Equality and order of whole values.
#![forbid(unsafe_code)]

use core::mem;
use core::ops::ControlFlow;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskCompareOff;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::{Error, Result};
use ferrite_core::function::Function;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::text::Lossy;
use ferrite_core::{bail, error, type_index, type_table};

use super::compare_leaf::compare_leaves;
use crate::containers::{DictObject, MapObject};
use crate::walk::{Children, ChildrenKind, Entered, Fold, HookState, Hooks, Seen, Slot, fold, lend};

/// Whether two values are equal: the same type, and equal in everything that is in them.
///
/// Strings and bytes compare by content, NaN equals NaN, maps compare without their order, objects field by field unless
/// a field is flagged as not compared, or by the hook `__ffi_eq__` or `__ffi_compare__` of their type. Cycles that run
/// alike are equal.
///
/// # Errors
///
/// Those of hooks and getters; ValueError beyond the depths of [`crate::walk`]; MemoryError.
///
/// # Upstream
///
/// `RecursiveEq` in `extra/dataclass.h`.
pub fn recursive_eq(lhs: &Any, rhs: &Any) -> Result<bool> {
    compare(lhs, rhs, true).map(|order| order == 0)
}

/// The order of two values: negative, zero or positive. None comes first; sequences and fields go by the first
/// difference; a type may have the hook `__ffi_compare__`.
///
/// # Errors
///
/// TypeError for different types, maps that differ, NaN and values without order; ValueError for a cycle; those of
/// [`recursive_eq`].
///
/// # Upstream
///
/// `RecursiveLt` and its kin in `extra/dataclass.h`.
pub fn recursive_compare(lhs: &Any, rhs: &Any) -> Result<i32> {
    compare(lhs, rhs, false)
}

fn compare(lhs: &Any, rhs: &Any, equality_only: bool) -> Result<i32> {
    let mut comparer = Comparer {
        equality_only,
        eq_hooks: Hooks::new("__ffi_eq__"),
        compare_hooks: Hooks::new("__ffi_compare__"),
        ..Comparer::default()
    };
    fold(&mut comparer, (lhs.clone(), rhs.clone()))
}

type Pair = (Any, Any);

#[derive(Default)]
struct Comparer {
    equality_only: bool,
    /// Pairs of objects that were met, and whether they are being compared.
    open: Seen<bool, (Option<ObjectRef>, Option<ObjectRef>)>,
    eq_hooks: Hooks,
    compare_hooks: Hooks,
}

struct Frame {
    pair: Pair,
    kind: ChildrenKind,
    children: Buffer<Pair>,
    next: usize,
    /// The order when all children are equal.
    order: i32,
}

impl HookState for Comparer {}

impl Fold for Comparer {
    type Node = Pair;
    type Frame = Frame;
    type Value = i32;
    const NAME: &'static str = "RecursiveCompare";

    fn enter(&mut self, pair: Pair) -> Result<Entered<Frame, i32>> {
        if let Some(order) = compare_leaves(&pair.0, &pair.1, self.equality_only)? {
            return Ok(Entered::Value(order));
        }
        if self.open.get(&pair) == Some(&true) {
            if self.equality_only {
                return Ok(Entered::Value(0));
            }
            bail!(VALUE_ERROR, "RecursiveCompare: cyclic reference detected in ordering");
        }
        if let Some(order) = self.compare_by_hook(&pair)? {
            return Ok(Entered::Value(order));
        }
        let Some(mut frame) = Frame::new(&pair)? else {
            return self.unequal_maps().map(Entered::Value);
        };
        self.open.set(&pair, true)?;
        frame.pair = pair;
        Ok(Entered::Frame(frame))
    }

    fn next(&mut self, frame: &mut Frame) -> Result<Option<Pair>> {
        let child = frame.children.get_mut(frame.next).map(mem::take);
        frame.next += usize::from(child.is_some());
        Ok(child)
    }

    fn feed(&mut self, _: &mut Frame, order: i32) -> Result<ControlFlow<i32>> {
        Ok(if order == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(order) })
    }

    fn leave(&mut self, frame: &mut Frame) -> Result<i32> {
        self.open.set(&frame.pair, false)?;
        Ok(frame.order)
    }

    fn stopped(&mut self, open: &[Frame], order: i32) -> Result<i32> {
        // Which entry of a map comes first says nothing.
        if !self.equality_only && open.iter().any(|frame| frame.kind == ChildrenKind::Map) {
            return Err(no_order_of_maps());
        }
        Ok(order)
    }

    fn abandon(&mut self, frame: Frame) {
        self.close(&frame.pair);
    }
}

impl Comparer {
    fn close(&mut self, pair: &Pair) {
        // Memory is needed only for pairs that were not met before.
        let _ = self.open.set(pair, false);
    }

    fn unequal_maps(&self) -> Result<i32> {
        if self.equality_only { Ok(1) } else { Err(no_order_of_maps()) }
    }

    fn compare_by_hook(&mut self, pair: &Pair) -> Result<Option<i32>> {
        if pair.0.type_index() < type_index::STATIC_OBJECT_END {
            return Ok(None);
        }
        if self.equality_only
            && let Some(hook) = self.eq_hooks.of(&pair.0)?
        {
            let equal = self.call_hook(pair, Self::eq_callback, |args| hook.call(args)?.get::<bool>());
            return equal.map(|equal| Some(i32::from(!equal)));
        }
        let Some(hook) = self.compare_hooks.of(&pair.0)? else { return Ok(None) };
        self.call_hook(pair, Self::compare_callback, |args| hook.call(args)?.get::<i32>()).map(Some)
    }

    fn call_hook<R>(
        &mut self,
        pair: &Pair,
        make_callback: fn(Slot<Self>) -> Result<Function>,
        call: impl FnOnce(&[AnyView<'_>]) -> Result<R>,
    ) -> Result<R> {
        self.open.set(pair, true)?;
        let answer = lend(self, make_callback, |callback| {
            call(&[pair.0.view(), pair.1.view(), AnyView::from(callback)])
        });
        self.close(pair);
        answer
    }

    fn eq_callback(slot: Slot<Self>) -> Result<Function> {
        Function::from_typed(move |lhs: Any, rhs: Any| -> Result<bool> {
            slot.with(|comparer| fold(comparer, (lhs, rhs)).map(|order| order == 0))
        })
    }

    fn compare_callback(slot: Slot<Self>) -> Result<Function> {
        Function::from_typed(move |lhs: Any, rhs: Any| -> Result<i32> {
            slot.with(|comparer| fold(comparer, (lhs, rhs)))
        })
    }
}

impl Frame {
    /// The children of two objects of the same type, in pairs; None for maps with different keys.
    fn new(pair: &Pair) -> Result<Option<Self>> {
        let skipped = i64::from(kTVMFFIFieldFlagBitMaskCompareOff);
        let lhs = Children::of(&pair.0, skipped)?;
        let kind = lhs.kind;
        let mut frame = Self { pair: Pair::default(), kind, children: Buffer::new(), next: 0, order: 0 };
        let done = match pair.0.type_index() {
            type_index::MAP => {
                let rhs: MapObject = pair.1.get()?;
                frame.pair_entries(lhs, rhs.len(), |key| Ok(rhs.get(key)?.cloned()))?
            }
            type_index::DICT => {
                let rhs: DictObject = pair.1.get()?;
                frame.pair_entries(lhs, rhs.len(), |key| rhs.get(key))?
            }
            _ => {
                let rhs = Children::of(&pair.1, skipped)?;
                frame.order = lhs.values.len().cmp(&rhs.values.len()) as i32;
                lhs.values.into_iter().zip(rhs.values).try_for_each(|both| frame.children.try_push(both))?;
                true
            }
        };
        Ok(done.then_some(frame))
    }

    /// Puts together the values that belong to the same keys; answers false when the keys differ.
    fn pair_entries(
        &mut self,
        entries: Children,
        other_len: usize,
        find: impl Fn(AnyView<'_>) -> Result<Option<Any>>,
    ) -> Result<bool> {
        if entries.values.len() != 2 * other_len {
            return Ok(false);
        }
        let mut values = entries.values.into_iter();
        while let (Some(key), Some(value)) = (values.next(), values.next()) {
            let Some(other) = find(key.view())? else { return Ok(false) };
            self.children.try_push((value, other))?;
        }
        Ok(true)
    }
}

fn no_order_of_maps() -> Error {
    error!(TYPE_ERROR, "Cannot order Map/Dict values")
}

/// The error for values of types that have no common order.
pub(super) fn different_types(lhs: &Any, rhs: &Any) -> Error {
    error!(
        TYPE_ERROR,
        "Cannot compare values of different types: {} vs {}",
        Lossy(type_table::type_key_of(lhs.type_index())),
        Lossy(type_table::type_key_of(rhs.type_index()))
    )
}

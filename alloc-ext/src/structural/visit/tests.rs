//! Tests of structural walks and visits: interrupts, definition regions, hooks and error contexts.

use core::ffi::c_void;
use ferrite_core::value::convert::OpaquePtr;
use std::sync::Arc;
use std::vec::Vec;

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIObject, kTVMFFIFieldFlagBitMaskSEqHashDefPattern as PATTERN,
    kTVMFFIFieldFlagBitMaskSEqHashDefSimple as SIMPLE,
    kTVMFFIFieldFlagBitMaskSEqHashIgnore as IGNORE, kTVMFFISEqHashKindFreeVar as VARIABLE,
    kTVMFFISEqHashKindTreeNode as TREE, type_index,
};
use ferrite_core::bail;
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::platform::sync::Mutex;
use ferrite_core::value::any::{Any, AnyView};

use super::WalkOrder;
use super::engine::{structural_visit, structural_walk};
use super::hooks::default_visit;
use super::visitor::visit;
use crate::containers::faults::with_every_refusal;
use crate::containers::{Array, ArrayObject, DictObject, ListObject, MapObject, Tuple};
use crate::dataclass::deep_copy;
use crate::dataclass::testing::{add_hook, array, int, node_type, pair};
use crate::reflection::{StructuralVisitor, VisitErrorContext, VisitInterrupt};
use crate::structural::callbacks::Callbacks;
use crate::structural::{DefRegion, walker};

fn callbacks(entries: &[(i32, Function)]) -> Result<Callbacks> {
    let entries: Result<Vec<_>> = entries.iter().map(|entry| Tuple::new(entry.clone())).collect();
    Callbacks::new(&Array::from_slice(&entries?)?)
}

/// Recorder of the ints that callbacks receive. Records a container as its negative length.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<i64>>>);

impl Trace {
    fn see(&self, value: &Any) -> Result<()> {
        let seen = match value.type_index() {
            type_index::ARRAY => -(value.get::<ArrayObject>()?.len() as i64),
            type_index::LIST => -(value.get::<ListObject>()?.len() as i64),
            type_index::MAP => -(value.get::<MapObject>()?.len() as i64),
            _ => value.get()?,
        };
        self.0.lock().push(seen);
        Ok(())
    }

    fn seen(&self) -> Vec<i64> {
        core::mem::take(&mut *self.0.lock())
    }

    /// Creates a callback for all types that records its argument and returns the result of
    /// `answer`.
    fn callback(
        &self,
        answer: impl Fn(&Any) -> Result<Any> + Send + Sync + 'static,
    ) -> Result<Function> {
        let trace = self.clone();
        Function::from_typed(move |value: Any| -> Result<Any> {
            trace.see(&value)?;
            answer(&value)
        })
    }
}

fn walk_all(root: &Any, order: WalkOrder, callback: Function) -> Result<Option<VisitInterrupt>> {
    structural_walk(root, callbacks(&[(type_index::ANY, callback)])?, Callbacks::default(), order)
}

#[test]
fn walks_call_back_before_or_after_what_is_inside() -> Result<()> {
    let mut map = MapObject::with_capacity(0)?;
    map.insert(int(70), array(&[int(7)])?)?;
    let root = array(&[
        int(1),
        Any::NONE,
        Any::new(ListObject::from_slice(&[int(2), int(3)])?),
        Any::new(map),
    ])?;
    let trace = Trace::default();
    assert!(walk_all(&root, WalkOrder::Pre, trace.callback(|_| Ok(Any::NONE))?)?.is_none());
    assert_eq!(trace.seen(), [-4, 1, -2, 2, 3, -1, -1, 7]);
    assert!(walk_all(&root, WalkOrder::Post, trace.callback(|_| Ok(Any::NONE))?)?.is_none());
    assert_eq!(trace.seen(), [1, 2, 3, -2, 7, -1, -1, -4]);
    Ok(())
}

#[test]
fn answers_skip_interrupt_or_are_refused() -> Result<()> {
    let root = array(&[array(&[int(1), int(2)])?, int(3), int(4)])?;
    let trace = Trace::default();
    let skip =
        |value: &Any| Ok(Any::from(value.get::<ArrayObject>().is_ok_and(|array| array.len() == 2)));
    walk_all(&root, WalkOrder::Pre, trace.callback(skip)?)?;
    assert_eq!(trace.seen(), [-3, -2, 3, 4]);
    walk_all(&root, WalkOrder::Post, trace.callback(skip)?)?;
    assert_eq!(trace.seen(), [1, 2, -2, 3, 4, -3]);
    for (order, expected) in [(WalkOrder::Pre, &[-3, -2, 1, 2][..]), (WalkOrder::Post, &[1, 2])] {
        let stop = |value: &Any| match value.try_get::<i64>()? {
            Some(2) => VisitInterrupt::new(int(20)).map(Any::new),
            _ => Ok(Any::NONE),
        };
        let interrupt = walk_all(&root, order, trace.callback(stop)?)?.expect("an interrupt");
        assert_eq!(interrupt.value().get::<i64>()?, 20);
        assert_eq!(trace.seen(), expected);
    }
    let error = walk_all(&root, WalkOrder::Pre, trace.callback(|_| Ok(Any::from(0.5)))?)
        .map(drop)
        .unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"CallExpected: result type mismatch, expected WalkResult, but got float"
    );
    let wrong = callbacks(&[(type_index::ANY, Function::from_typed(|_: Any, _: Any| 1i64)?)])?;
    let error = structural_visit(&root, wrong).map(drop).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"CallExpected: result type mismatch, expected Optional<ffi.VisitInterrupt>, but got int"
    );
    Ok(())
}

/// Returns the definition region of every int in a value.
fn regions_in(root: &Any) -> Result<Vec<(i64, i32)>> {
    let found: Arc<Mutex<Vec<(i64, i32)>>> = Arc::default();
    let seen = found.clone();
    let callback =
        Function::from_typed(move |value: i64, region: i32| seen.lock().push((value, region)))?;
    structural_walk(
        root,
        Callbacks::default(),
        callbacks(&[(type_index::INT, callback)])?,
        WalkOrder::Post,
    )?;
    Ok(core::mem::take(&mut *found.lock()))
}

#[test]
fn fields_define_as_they_are_registered() -> Result<()> {
    let defines = node_type("test.visit.Defines", TREE, [PATTERN, SIMPLE])?;
    let uses = node_type("test.visit.Uses", TREE, [IGNORE, 0])?;
    let variable = node_type("test.visit.Variable", VARIABLE, [0, SIMPLE])?;
    let inner = pair(uses, int(1), int(2))?;
    let variable = pair(variable, int(3), int(4))?;
    let inside = pair(defines, pair(defines, int(5), int(6))?, array(&[inner.clone(), variable])?)?;
    // A pattern extends to everything; variables inside a simply defined variable are used, unless
    // their field defines them.
    assert_eq!(regions_in(&inside)?, [(5, 1), (6, 1), (2, 2), (3, 0), (4, 2)]);
    assert_eq!(regions_in(&inner)?, [(2, 0)]);
    Ok(())
}

#[test]
fn visits_leave_the_descent_to_callbacks() -> Result<()> {
    let trace = Trace::default();
    let seen = trace.clone();
    let first_only = Function::from_typed(
        move |value: ArrayObject, visitor: StructuralVisitor| -> Result<Option<VisitInterrupt>> {
            seen.see(&Any::new(value.clone()))?;
            let region = walker::region(&visitor);
            assert_eq!(region, DefRegion::NONE);
            default_visit(&visitor, value.get(0)?)?;
            walker::in_region(&visitor, DefRegion::SIMPLE, || visit(&visitor, value.get(0)?.view()))
        },
    )?;
    let seen = trace.clone();
    let ints = Function::from_typed(move |value: i64, visitor: StructuralVisitor| -> Result<()> {
        seen.see(&int(100 * i64::from(walker::region(&visitor).as_raw()) + value))
    })?;
    let list = Any::new(ListObject::from_slice(&[int(1), int(2)])?);
    let root = array(&[list, int(3)])?;
    structural_visit(
        &root,
        callbacks(&[(type_index::ARRAY, first_only), (type_index::INT, ints)])?,
    )?;
    assert_eq!(trace.seen(), [-2, 1, 2, 201, 202]);
    Ok(())
}

#[test]
fn values_may_change_while_they_are_walked() -> Result<()> {
    let list = ListObject::from_slice(&[int(1), int(2), int(3), int(4)])?;
    let (trace, changed) = (Trace::default(), list.clone());
    let shrink = trace.callback(move |value| {
        if value.try_get::<i64>()? == Some(2) {
            changed.remove_range(1, 4)?;
        }
        Ok(Any::NONE)
    })?;
    walk_all(&Any::new(list.clone()), WalkOrder::Pre, shrink)?;
    assert_eq!(trace.seen(), [-4, 1, 2]);
    let changed = list.clone();
    let grow = trace.callback(move |_| changed.push(int(9)).map(|()| Any::NONE))?;
    walk_all(&Any::new(list), WalkOrder::Post, grow)?;
    assert_eq!(trace.seen(), [1, -2]);
    let dict = DictObject::with_capacity(0)?;
    (0..40).try_for_each(|key| dict.insert(int(key), int(key)))?;
    let changed = dict.clone();
    let empty = Function::from_typed(move |value: i64| {
        changed.clear().expect("nothing else uses it");
        value
    })?;
    let only_ints = callbacks(&[(type_index::INT, empty)])?;
    structural_walk(&Any::new(dict.clone()), only_ints, Callbacks::default(), WalkOrder::Pre)?;
    assert!(dict.is_empty());
    Ok(())
}

fn context_of(error: &Error) -> VisitErrorContext {
    error.extra_context().and_then(|context| context.downcast().ok()).expect("a visit context")
}

#[test]
fn errors_know_the_nodes_on_the_way() -> Result<()> {
    let inner = array(&[int(1)])?;
    let root = array(&[int(0), inner.clone()])?;
    for order in [WalkOrder::Pre, WalkOrder::Post] {
        let fail = Function::from_typed(|value: Any| -> Result<()> {
            if value.try_get::<i64>()? == Some(1) { bail!(KeyError, "one") } else { Ok(()) }
        })?;
        let error = walk_all(&root, order, fail).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"KeyError");
        let pattern = context_of(&error).reverse_visit_pattern();
        assert_eq!(pattern.len(), 2);
        assert_eq!(pattern.get(0)?.as_ptr(), inner.view().object_ptr().expect("an array").as_ptr());
    }
    // An error that is returned counts like one that is raised.
    let give = Function::from_packed(|_| Ok(Any::new(ferrite_core::error!(TypeError, "given"))))?;
    assert_eq!(
        walk_all(&root, WalkOrder::Post, give).map(drop).unwrap_err().message_bytes(),
        b"given"
    );
    Ok(())
}

#[test]
fn an_error_survives_when_its_context_has_no_memory() -> Result<()> {
    let root = array(&[array(&[int(1)])?])?;
    let original = ferrite_core::error!(KeyError, "original");
    let (given, called) = (original.clone(), Arc::new(Mutex::new(false)));
    let was_called = called.clone();
    let fail = Function::from_packed(move |_| {
        *was_called.lock() = true;
        Err(given.clone())
    })?;
    let refusals = with_every_refusal(|| {
        *called.lock() = false;
        let outcome = callbacks(&[(type_index::INT, fail.clone())]).and_then(|callbacks| {
            structural_walk(&root, callbacks, Callbacks::default(), WalkOrder::Pre)
        });
        let error = outcome.map(drop).unwrap_err();
        let expected = if *called.lock() { original.kind_bytes() } else { b"MemoryError" };
        assert_eq!(error.kind_bytes(), expected);
    });
    assert!(refusals > 3);
    Ok(())
}

#[test]
fn hooks_say_what_is_inside_their_types() -> Result<()> {
    let by_function = node_type("test.visit.ByFunction", TREE, [0, 0])?;
    let hook = Function::from_typed(|visitor: StructuralVisitor, _: Any| {
        visit(&visitor, AnyView::from(5i64))
    })?;
    add_hook(by_function, "__s_visit__", &hook)?;
    let by_pointer = node_type("test.visit.ByPointer", TREE, [0, 0])?;
    // SAFETY: the function is a visit hook.
    unsafe {
        let pointer = OpaquePtr::new(visit_six as *mut c_void);
        type_table::register_attr_unchecked(by_pointer, b"__s_visit__", AnyView::from(&pointer))?;
    }
    let root = array(&[pair(by_function, int(1), int(2))?, pair(by_pointer, int(3), int(4))?])?;
    assert_eq!(regions_in(&root)?, [(5, 0), (6, 0)]);
    let wrong = node_type("test.visit.Wrong", TREE, [0, 0])?;
    type_table::register_attr(wrong, b"__s_visit__", AnyView::from(1i64))?;
    let error = regions_in(&pair(wrong, int(1), int(2))?).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"__s_visit__ must be an opaque function pointer or ffi.Function"
    );
    Ok(())
}

unsafe extern "C" fn visit_six(visitor: *mut TVMFFIObject, _: TVMFFIAny) -> TVMFFIAny {
    crate::structural::native::serve(|| {
        // SAFETY: hooks receive a live visitor.
        let visitor = unsafe { super::hooks::visitor_of(visitor)? };
        visit(&visitor, AnyView::from(6i64)).map(Any::from)
    })
}

#[test]
fn depth_does_not_come_from_the_stack() -> Result<()> {
    let depth = if cfg!(feature = "std") && !cfg!(miri) { 100_000 } else { 200 };
    let mut root = array(&[int(1)])?;
    for _ in 1..depth {
        root = array(&[root])?;
    }
    assert_eq!(regions_in(&root)?, [(1, 0)]);
    let fail = Function::from_typed(|_: i64| -> Result<()> { bail!(ValueError, "deep") })?;
    let fail = callbacks(&[(type_index::INT, fail)])?;
    let error =
        structural_walk(&root, fail, Callbacks::default(), WalkOrder::Pre).map(drop).unwrap_err();
    assert_eq!(context_of(&error).reverse_visit_pattern().len(), depth);
    Ok(())
}

// Without `std` the limit counts the calls of other tests, too.
#[cfg(feature = "std")]
#[test]
fn callbacks_may_nest_to_a_limit() -> Result<()> {
    let mut root = array(&[])?;
    for _ in 0..200 {
        root = array(&[root])?;
    }
    let descend = Function::from_typed(|value: ArrayObject, visitor: StructuralVisitor| {
        value.as_slice().first().map_or(Ok(None), |child| visit(&visitor, child.view()))
    })?;
    let error =
        structural_visit(&root, callbacks(&[(type_index::ARRAY, descend)])?).map(drop).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Calls are nested too deep: more than 128 inside one another"
    );
    // A hook that requests the default visit of its own value calls itself.
    let own = node_type("test.visit.Own", TREE, [0, 0])?;
    let hook = Function::from_typed(|visitor: StructuralVisitor, value: Any| {
        default_visit(&visitor, &value)
    })?;
    add_hook(own, "__s_visit__", &hook)?;
    let error = regions_in(&pair(own, int(1), int(2))?).unwrap_err();
    assert_eq!(error.kind_bytes(), b"ValueError");
    Ok(())
}

#[test]
fn a_visitor_works_after_its_walk_and_is_not_copied() -> Result<()> {
    let kept: Arc<Mutex<Option<StructuralVisitor>>> = Arc::default();
    let keep = kept.clone();
    let callback =
        Function::from_typed(move |value: i64, visitor: StructuralVisitor| -> Result<()> {
            *keep.lock() = Some(visitor);
            if value == 0 { bail!(ValueError, "zero") } else { Ok(()) }
        })?;
    structural_visit(&array(&[int(1)])?, callbacks(&[(type_index::INT, callback)])?)?;
    let visitor = kept.lock().take().expect("the callback ran");
    assert!(visit(&visitor, AnyView::from(2i64))?.is_none());
    walker::set_region(&visitor, DefRegion::SIMPLE);
    assert!(visit(&visitor, array(&[int(0)])?.view()).is_err());
    assert_eq!(walker::region(&visitor), DefRegion::SIMPLE);
    // The visitor owns its callback, which must not own the visitor for ever.
    drop(kept.lock().take());
    crate::reflection::install()?;
    assert_eq!(deep_copy(&Any::new(visitor)).map(drop).unwrap_err().kind_bytes(), b"TypeError");
    Ok(())
}

#[test]
fn signatures_are_upstreams() -> Result<()> {
    let walk = super::FUNCTIONS
        .iter()
        .find(|function| function.name() == "ffi.StructuralWalk")
        .expect("a walk");
    let error = walk.to_function()?.call_packed(&[]).map(drop).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Mismatched number of arguments when calling: `ffi.StructuralWalk(0: AnyView, \
          1: Array<Tuple<int, ffi.Function>>, 2: Array<Tuple<int, ffi.Function>>, 3: int) -> \
          Optional<ffi.VisitInterrupt>`. Expected 4 but got 0 arguments"
    );
    Ok(())
}

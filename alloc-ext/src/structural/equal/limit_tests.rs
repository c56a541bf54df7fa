//! Tests of errors of structural equality and hash: invalid tensors, cycles and the depth limit.

use core::slice::from_ref;

use ferrite_core::abi::{DLTensor, kTVMFFISEqHashKindTreeNode as TREE};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::tensor::Tensor;
use ferrite_core::value::any::{Any, AnyView};

use super::testing::{USED, equal, map, small_walk, text};
use super::{Options, first_structural_mismatch, structural_equal, structural_hash};
use crate::containers::{DictObject, ListObject};
use crate::dataclass::testing::{
    add_hook, array, big, int, list, message, node_type, pair, set_part,
};
use crate::structural::StructuralKey;

/// Runs `work` with the `DLTensor` of a tensor changed, and restores it.
fn with_record<R>(tensor: &Any, change: impl FnOnce(&mut DLTensor), work: impl FnOnce() -> R) -> R {
    let object = tensor.view().object_ptr().expect("a tensor");
    // SAFETY: tensors have such a record after the header; there is no other user of this one.
    let record = unsafe { &mut *object.as_ptr().add(1).cast::<DLTensor>() };
    let before = *record;
    change(record);
    let result = work();
    // SAFETY: as above.
    unsafe { object.as_ptr().add(1).cast::<DLTensor>().write(before) };
    result
}

/// Views of one buffer differ in their byte offset only.
#[test]
fn elements_begin_at_the_byte_offset() -> Result<()> {
    let buffer = Tensor::from_slice(&[1i32, 2, 3, 4], &[4])?;
    let (mut shape, mut strides) = ([2], [1]);
    let view = |byte_offset| {
        let (shape, strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
        let prototype = DLTensor { ndim: 1, shape, strides, byte_offset, ..*buffer.dl_tensor() };
        // SAFETY: both elements lie within the buffer.
        unsafe { buffer.create_unsafe_view(&prototype) }.map(Any::new)
    };
    let mut view = view;
    let (first, second) = (view(0)?, view(8)?);
    let copy = Any::new(Tensor::from_slice(&[3i32, 4], &[2])?);
    let options = Options::default();
    for (lhs, rhs, same) in
        [(&first, &second, false), (&second, &copy, true), (&first, &copy, false)]
    {
        assert_eq!(structural_equal(lhs, rhs, options)?, same);
        assert_eq!(structural_hash(lhs, options)? == structural_hash(rhs, options)?, same);
        assert_eq!(first_structural_mismatch(lhs, rhs, options)?.is_none(), same);
        let keys = [lhs, rhs].map(|value| StructuralKey::new(value.clone()));
        let [lhs, rhs] = keys;
        let (lhs, rhs) = (lhs?, rhs?);
        assert_eq!(lhs.hash_i64() == rhs.hash_i64(), same);
        assert_eq!(StructuralKey::keys_equal((&lhs).into(), (&rhs).into())?, same);
    }
    // Without elements, neither the data nor the offset count.
    let empty = || Tensor::from_slice::<i32>(&[], &[0]).map(Any::new);
    let (one, other) = (empty()?, empty()?);
    with_record(&one, |record| record.byte_offset = 64, || structural_equal(&one, &other, options))
        .map(|same| assert!(same))
}

#[test]
fn content_of_tensors_must_be_compact_and_on_the_host() -> Result<()> {
    let tensor = |number: f32| Tensor::from_slice(&[1.0, 2.0, 3.0, number], &[2, 2]).map(Any::new);
    let (one, two, other) = (tensor(4.0)?, tensor(4.0)?, tensor(5.0)?);
    assert!(equal(&one, &two, USED)? && !equal(&one, &other, USED)?);
    let skip = Options { skip_tensor_content: true, ..USED };
    assert!(equal(&one, &other, skip)?);
    let mut strides = [1i64, 2];
    let on_gpu = |record: &mut DLTensor| record.device.device_type = 2;
    let transposed = |record: &mut DLTensor| record.strides = strides.as_mut_ptr();
    with_record(&one, on_gpu, || {
        let reason = "device().device_type == kDLCPU (2 vs. 1) : can only";
        let check = |name: &str, verb: &str| {
            std::format!("Check failed: {name}.{reason} {verb} CPU tensor")
        };
        assert_eq!(message(structural_equal(&one, &two, USED)), check("lhs", "compare"));
        assert_eq!(message(structural_equal(&two, &one, USED)), check("rhs", "compare"));
        assert_eq!(message(structural_hash(&one, USED)), check("tensor", "hash"));
        assert_eq!(message(structural_equal(&one, &one, USED)), "no error");
    });
    with_record(&one, transposed, || {
        let reason = "IsContiguous()) is false: Can only";
        let check = |name: &str, verb: &str| {
            std::format!("Check failed: ({name}.{reason} {verb} contiguous tensor")
        };
        assert_eq!(message(structural_equal(&one, &two, USED)), check("lhs", "compare"));
        assert_eq!(message(structural_equal(&two, &one, USED)), check("rhs", "compare"));
        assert_eq!(message(structural_hash(&one, USED)), check("tensor", "hash"));
        assert!(matches!(structural_equal(&one, &two, skip), Ok(true)));
    });
    Ok(())
}

#[test]
fn containers_of_different_sizes_differ_whatever_is_inside() -> Result<()> {
    let tensor = || Tensor::from_slice(&[1.0f32], &[1]).map(Any::new);
    let (one, two) = (tensor()?, tensor()?);
    let on_gpu = |record: &mut DLTensor| record.device.device_type = 2;
    let arrays = [array(from_ref(&one))?, array(&[two.clone(), two.clone()])?];
    let lists = [list(from_ref(&one))?, list(&[two.clone(), two.clone()])?];
    let key = || text("key");
    let maps = [map(&[(key()?, one.clone())])?, map(&[(key()?, two.clone()), (int(1), two)])?];
    with_record(&one, on_gpu, || {
        for [lhs, rhs] in [arrays, lists, maps] {
            for (lhs, rhs) in [(array(from_ref(&lhs))?, array(from_ref(&rhs))?), (lhs, rhs)] {
                assert!(!structural_equal(&lhs, &rhs, USED)?);
                assert!(!small_walk::equal(&lhs, &rhs, USED)?);
            }
        }
        Ok(())
    })
}

#[test]
fn hooks_may_change_what_is_walked() -> Result<()> {
    let cleared = ListObject::with_capacity(0)?;
    let hooked = node_type("test.equal.Clearing", TREE, [0, 0])?;
    let list = cleared.clone();
    let clear = Function::from_typed(move |_: Any, _: Any, _: Any| -> Result<bool> {
        list.clear()?;
        Ok(true)
    })?;
    add_hook(hooked, "__s_equal__", &clear)?;
    add_hook(hooked, "__s_hash__", &clear)?;
    let walked = Any::new(cleared.clone());
    for outcome in [0, 1] {
        for _ in 0..3 {
            cleared.push(pair(hooked, int(1), int(2))?)?;
        }
        let outcome = match outcome {
            0 => structural_equal(&walked, &walked, USED).map(drop),
            _ => structural_hash(&walked, USED).map(drop),
        };
        assert_eq!(message(outcome), "Index 1 out of bounds 0");
    }
    Ok(())
}

#[test]
fn hooks_may_shorten_the_lists_that_are_walked() -> Result<()> {
    let (hooked, plain) =
        (node_type("test.equal.Pops", TREE, [0, 0])?, node_type("test.equal.L", TREE, [0, 0])?);
    let other = node_type("test.equal.R", TREE, [0, 0])?;
    let shortened = ListObject::with_capacity(0)?;
    let (of_equal, of_hash) = (shortened.clone(), shortened.clone());
    let equal = Function::from_typed(move |_: Any, _: Any, _: Any| {
        of_equal.pop().map(|value| value.is_some())
    })?;
    let hash =
        Function::from_typed(move |_: Any, _: Any, _: Any| of_hash.pop().map_or(0, |_| 0i64))?;
    add_hook(hooked, "__s_equal__", &equal)?;
    add_hook(hooked, "__s_hash__", &hash)?;
    let elements = [int(1), text("longer than seven")?, pair(plain, int(1), int(2))?, big(1)?];
    let others = [int(2), text("other than seven")?, pair(other, int(1), int(2))?, big(2)?];
    for (left, right) in elements.iter().zip(others) {
        let fill = |element: &Any| {
            shortened.clear()?;
            [pair(hooked, int(1), int(2))?, element.clone(), int(0)]
                .into_iter()
                .try_for_each(|it| shortened.push(it))
        };
        let lhs = list(&[pair(hooked, int(1), int(2))?, left.clone(), int(0)])?;
        let rhs = Any::new(shortened.clone());
        fill(&right)?;
        assert!(!structural_equal(&lhs, &rhs, USED)?);
        fill(&right)?;
        assert!(first_structural_mismatch(&lhs, &rhs, USED)?.is_some());
        // The remaining element is hashed before the missing one is noticed.
        fill(&right)?;
        assert_eq!(message(structural_hash(&rhs, USED)), "Index 2 out of bounds 2");
    }
    Ok(())
}

#[test]
fn hooks_may_empty_the_dicts_that_are_hashed() -> Result<()> {
    let hooked = node_type("test.equal.Empties", TREE, [0, 0])?;
    let emptied = DictObject::with_capacity(0)?;
    let of_hash = emptied.clone();
    let hash = Function::from_typed(move |_: Any, _: Any, _: Any| -> Result<i64> {
        of_hash.clear()?;
        Ok(0)
    })?;
    add_hook(hooked, "__s_hash__", &hash)?;
    let value = Any::new(emptied.clone());
    for len in 1..7 {
        for key in 0..len {
            emptied.insert(int(key), pair(hooked, int(key), int(2))?)?;
            emptied.insert(text("longer than seven")?, array(&[int(key)])?)?;
            emptied.insert(text("a")?, int(key))?;
        }
        structural_hash(&value, USED)?;
        assert_eq!(emptied.len(), 0);
    }
    Ok(())
}

#[test]
fn errors_of_hooks_come_out() -> Result<()> {
    let hooked = node_type("test.equal.Failing", TREE, [0, 0])?;
    let fail = Function::from_typed(|_: Any, _: Any, _: Any| -> Result<bool> {
        ferrite_core::bail!(ValueError, "not today")
    })?;
    add_hook(hooked, "__s_equal__", &fail)?;
    add_hook(hooked, "__s_hash__", &fail)?;
    let object = array(&[pair(hooked, int(1), int(2))?])?;
    assert_eq!(message(structural_equal(&object, &object, USED)), "not today");
    assert_eq!(message(structural_hash(&object, USED)), "not today");
    let wrong = node_type("test.equal.Wrong", TREE, [0, 0])?;
    type_table::register_attr(wrong, b"__s_equal__", AnyView::from(1i64))?;
    let object = pair(wrong, int(1), int(2))?;
    assert_eq!(structural_equal(&object, &object, USED).unwrap_err().kind_bytes(), b"TypeError");
    Ok(())
}

/// Returns a number nested in `depth` containers.
fn nested(depth: usize, wrap: impl Fn(&[Any]) -> Result<Any>, number: i64) -> Result<Any> {
    let mut value = int(number);
    for _ in 0..depth {
        value = wrap(&[value])?;
    }
    Ok(value)
}

#[test]
fn depth_does_not_come_from_the_stack() -> Result<()> {
    let work = || -> Result<()> {
        let depth = match () {
            () if cfg!(miri) || cfg!(not(feature = "std")) => 100,
            () if cfg!(debug_assertions) => 100_000,
            () => 1_000_000,
        };
        let (one, two) = (nested(depth, array, 1)?, nested(depth, array, 2)?);
        assert!(structural_equal(&one, &one, USED)?);
        assert_ne!(structural_hash(&one, USED)?, structural_hash(&two, USED)?);
        let (path, _) = first_structural_mismatch(&one, &two, USED)?.expect("they differ");
        assert_eq!(path.depth() as usize, depth);
        Ok(())
    };
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no panic")
}

#[test]
fn cycles_end_at_the_limit_of_depth() -> Result<()> {
    if cfg!(miri) || cfg!(not(feature = "std")) {
        // The limit is never reached, since there is less memory.
        return Ok(());
    }
    let cycle = || -> Result<ListObject> {
        let list = ListObject::with_capacity(1)?;
        list.push(Any::new(list.clone()))?;
        Ok(list)
    };
    let (lhs, rhs) = (cycle()?, cycle()?);
    let (left, right) = (Any::new(lhs.clone()), Any::new(rhs.clone()));
    for outcome in [
        structural_equal(&left, &right, USED).map(|_| ()),
        first_structural_mismatch(&left, &right, USED).map(|_| ()),
        structural_hash(&left, USED).map(|_| ()),
    ] {
        let text = message(outcome);
        assert!(text.ends_with("maximum stack depth (1048576) exceeded"), "{text}");
    }
    lhs.clear()?;
    rhs.clear()?;
    let tree = node_type("test.equal.Cycle", TREE, [0, 0])?;
    let object = pair(tree, Any::NONE, Any::NONE)?;
    set_part(&object, 0, object.clone());
    assert!(structural_hash(&object, USED).is_err());
    set_part(&object, 0, Any::NONE);
    Ok(())
}

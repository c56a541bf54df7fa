//! Promises of `Send` and `Sync`, type by type. The table in the README of the crate says the same.
#![forbid(unsafe_code)]

use ferrite::containers::{ArrayIter, DictIter, ListIter, MapIter};
use ferrite::tensor::{Elements, ElementsMut, TensorRef};
use ferrite::{
    Any, AnyView, Array, BigInt, Bytes, Dict, Error, Function, List, Map, Module, ObjectRef, Shape,
    String, Tensor, TensorView, Tuple, WeakObjectRef,
};

/// Answers `false` for every type, unless the inherent constants of `Holds` say otherwise.
trait Fallback {
    const SEND: bool = false;
    const SYNC: bool = false;
}

impl<T> Fallback for T {}

/// Selects `SEND` and `SYNC` by the bounds of a type.
struct IsSend<T>(core::marker::PhantomData<T>);
struct IsSync<T>(core::marker::PhantomData<T>);

#[allow(dead_code, reason = "the trait has the constant of other types")]
impl<T: Send> IsSend<T> {
    const SEND: bool = true;
}

#[allow(dead_code, reason = "the trait has the constant of other types")]
impl<T: Sync> IsSync<T> {
    const SYNC: bool = true;
}

/// Asserts for each type whether it is `Send`, and whether it is `Sync`.
macro_rules! table {
    ($($send:literal $sync:literal: $($type:ty),+;)+) => {
        $($(const _: () = {
            assert!(IsSend::<$type>::SEND == $send, concat!(stringify!($type), " and Send"));
            assert!(IsSync::<$type>::SYNC == $sync, concat!(stringify!($type), " and Sync"));
        };)+)+
    };
}

table! {
    true true: Any, ObjectRef, String, Bytes, Shape, BigInt, Tensor, Function, Module, Error, WeakObjectRef;
    true true: Array, List, Map, Dict, Array<String>, Map<String, Any>, Tuple<(i64, String)>;
    // Borrowed cells may hold a pointer or a view of C, whose owner is not known.
    false false: AnyView<'static>, Array<*mut core::ffi::c_void>;
    false false: TensorRef<'static>, TensorView<'static>;
    true true: Elements<'static, f32>, ElementsMut<'static, f32>;
    true true: ArrayIter<'static, Any>, ListIter<Any>, MapIter<'static, Any, Any>, DictIter<Any, Any>;
}

/// The table is checked when this file is compiled; this runs the promise once.
#[test]
fn values_move_to_other_threads() -> ferrite::Result<()> {
    let (function, values) =
        (Function::from_typed(|value: i64| value + 1)?, Array::<i64>::from_slice(&[1, 2])?);
    let sum = std::thread::spawn(move || -> ferrite::Result<i64> {
        let first = function.call_packed(&[values.get(0)?.into()])?.get::<i64>()?;
        Ok(first + values.get(1)?)
    });
    assert_eq!(sum.join().unwrap()?, 4);
    Ok(())
}

//! Tests of the global container functions through packed calls.

use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use super::FUNCTIONS;
use crate::containers::{Array, List};

fn call(name: &str, args: &[&Any]) -> Result<Any> {
    let function = FUNCTIONS
        .iter()
        .find(|function| function.name() == name)
        .expect("a known name")
        .to_function()?;
    let args: std::vec::Vec<AnyView<'_>> = args.iter().map(|arg| arg.view()).collect();
    function.call_packed(&args)
}

fn int(value: i64) -> Any {
    Any::from(value)
}

fn message(outcome: Result<Any>) -> (std::string::String, std::string::String) {
    let error: Error = outcome.expect_err("a failure");
    let text = |bytes: &[u8]| std::string::String::from_utf8_lossy(bytes).into_owned();
    (text(error.kind_bytes()), text(error.message_bytes()))
}

#[test]
fn arrays_are_made_and_read() -> Result<()> {
    let array = call("ffi.Array", &[&int(4), &int(5)])?;
    assert_eq!(call("ffi.ArraySize", &[&array])?.get::<i64>()?, 2);
    assert_eq!(call("ffi.ArrayGetItem", &[&array, &int(1)])?.get::<i64>()?, 5);
    assert!(call("ffi.ArrayContains", &[&array, &int(4)])?.get::<bool>()?);
    assert!(!call("ffi.ArrayContains", &[&array, &Any::from(4.0f64)])?.get::<bool>()?);
    let (kind, text) = message(call("ffi.ArrayGetItem", &[&array, &int(-1)]));
    assert_eq!((&*kind, &*text), ("IndexError", "Index -1 out of bounds 2"));
    let (kind, text) = message(call("ffi.ArraySize", &[&int(1)]));
    let expected = "Mismatched type on argument #0 when calling: `ffi.ArraySize(0: ffi.Array) -> int`. \
                    Expected `ffi.Array` but got `int`";
    assert_eq!((&*kind, &*text), ("TypeError", expected));
    Ok(())
}

#[test]
fn lists_change_in_place_and_arrays_are_copied() -> Result<()> {
    let list = call("ffi.List", &[&int(1), &int(2), &int(3)])?;
    call("ffi.ListAppend", &[&list, &int(4)])?;
    call("ffi.ListInsert", &[&list, &int(0), &int(0)])?;
    call("ffi.ListSetItem", &[&list, &int(1), &int(9)])?;
    call("ffi.ListReplaceSlice", &[&list, &int(3), &int(5), &list])?;
    assert_eq!(call("ffi.ListPop", &[&list, &int(0)])?.get::<i64>()?, 0);
    call("ffi.ListErase", &[&list, &int(0)])?;
    call("ffi.ListReverse", &[&list])?;
    let left: Result<std::vec::Vec<_>> = list.get::<List<i64>>()?.iter().collect();
    assert_eq!(left?, [4, 3, 2, 9, 0, 2]);
    call("ffi.ListEraseRange", &[&list, &int(1), &int(5)])?;
    assert_eq!(call("ffi.ListGetItem", &[&list, &int(1)])?.get::<i64>()?, 2);
    call("ffi.ListReserve", &[&list, &int(50)])?;
    call("ffi.ListClear", &[&list])?;
    assert_eq!(call("ffi.ListSize", &[&list])?.get::<i64>()?, 0);
    let (kind, text) = message(call("ffi.ListInsert", &[&list, &int(1), &int(1)]));
    assert_eq!((&*kind, &*text), ("IndexError", "Index 1 out of bounds [0, 0]"));
    let array = call("ffi.Array", &[&int(1)])?;
    call("ffi.ListAppend", &[&array, &int(2)])?;
    assert_eq!(call("ffi.ArraySize", &[&array])?.get::<i64>()?, 1);
    Ok(())
}

#[test]
fn maps_and_dicts_are_made_of_pairs() -> Result<()> {
    for (kind, prefix) in [("ffi.Map", "ffi.Map"), ("ffi.Dict", "ffi.Dict")] {
        let name = |suffix: &str| std::format!("{prefix}{suffix}");
        let map = call(kind, &[&int(1), &int(10), &int(2), &int(20), &int(1), &int(11)])?;
        assert_eq!(call(&name("Size"), &[&map])?.get::<i64>()?, 2);
        assert_eq!(call(&name("GetItem"), &[&map, &int(1)])?.get::<i64>()?, 11);
        assert_eq!(call(&name("Count"), &[&map, &int(3)])?.get::<i64>()?, 0);
        let missing = call(&name("GetItemOrMissing"), &[&map, &int(3)])?.get::<ObjectRef>()?;
        assert!(missing.ptr_eq(&ferrite_core::names::ffi_functions::invalid_object()));
        let (error, text) = message(call(&name("GetItem"), &[&map, &int(3)]));
        assert_eq!((&*error, &*text), ("KeyError", "key is not in Map"));
        let (error, text) = message(call(kind, &[&int(1)]));
        assert_eq!(
            (&*error, &*text),
            ("InternalError", "Check failed: args.size() % 2 == 0 (1 vs. 0) : ")
        );
        let walk = call(&name("ForwardIterFunctor"), &[&map])?.get::<Function>()?;
        let step = |command: i64| walk.call_packed(&[command.into()]);
        assert_eq!((step(0)?.get::<i64>()?, step(1)?.get::<i64>()?), (1, 11));
        assert!(step(2)?.get::<bool>()?);
        assert_eq!((step(0)?.get::<i64>()?, step(1)?.get::<i64>()?), (2, 20));
        assert!(!step(2)?.get::<bool>()?);
        assert!(step(0).is_err() && !step(2)?.get::<bool>()?);
    }
    Ok(())
}

/// Enough entries that an iteration prefetches the next one.
#[test]
fn walks_go_on_while_a_large_dict_changes() -> Result<()> {
    const LEN: i64 = 1200;
    let dict = call("ffi.Dict", &[])?;
    for key in 0..LEN {
        call("ffi.DictSetItem", &[&dict, &int(key * 7), &int(key)])?;
    }
    let walk = call("ffi.DictForwardIterFunctor", &[&dict])?.get::<Function>()?;
    let step = |command: i64| walk.call_packed(&[command.into()]);
    for key in 0..LEN / 2 {
        assert_eq!((step(0)?.get::<i64>()?, step(1)?.get::<i64>()?), (key * 14, key * 2));
        call("ffi.DictErase", &[&dict, &int(key * 14 + 7)])?;
        assert_eq!(step(2)?.get::<bool>()?, key + 1 < LEN / 2);
    }
    assert_eq!(call("ffi.DictSize", &[&dict])?.get::<i64>()?, LEN / 2);
    let walk = call("ffi.DictForwardIterFunctor", &[&dict])?.get::<Function>()?;
    assert_eq!(walk.call_packed(&[1i64.into()])?.get::<i64>()?, 0);
    call("ffi.DictClear", &[&dict])?;
    let (kind, text) = message(walk.call_packed(&[0i64.into()]));
    assert_eq!((&*kind, &*text), ("IndexError", "The iteration stands at no entry"));
    assert!(!walk.call_packed(&[2i64.into()])?.get::<bool>()?);
    Ok(())
}

#[test]
fn dicts_change_in_place() -> Result<()> {
    let dict = call("ffi.Dict", &[])?;
    let key = Any::new(String::new("a key of many letters")?);
    call("ffi.DictSetItem", &[&dict, &key, &int(1)])?;
    call("ffi.DictErase", &[&dict, &int(7)])?;
    assert_eq!(call("ffi.DictCount", &[&dict, &key])?.get::<i64>()?, 1);
    call("ffi.DictErase", &[&dict, &key])?;
    assert_eq!(call("ffi.DictSize", &[&dict])?.get::<i64>()?, 0);
    call("ffi.DictSetItem", &[&dict, &key, &int(1)])?;
    call("ffi.DictClear", &[&dict])?;
    assert_eq!(call("ffi.DictSize", &[&dict])?.get::<i64>()?, 0);
    Ok(())
}

#[test]
fn containers_without_tensors_are_on_the_cpu() -> Result<()> {
    let nested = Any::new(Array::try_from_iter([List::from_slice(&[1i64])?])?);
    let device = call("ffi.ContainerFindFirstNonCPUDevice", &[&nested])?
        .get::<ferrite_core::abi::DLDevice>()?;
    assert_eq!((device.device_type, device.device_id), (1, 0));
    Ok(())
}

#[test]
fn containers_that_hold_themselves_or_share_much_are_searched_once() -> Result<()> {
    let find = |value: &Any| {
        call("ffi.ContainerFindFirstNonCPUDevice", &[value])?.get::<ferrite_core::abi::DLDevice>()
    };
    let list = call("ffi.List", &[&int(1)])?;
    let dict = call("ffi.Dict", &[&int(1), &list])?;
    call("ffi.ListAppend", &[&list, &dict])?;
    call("ffi.ListAppend", &[&list, &list])?;
    assert_eq!(find(&list)?.device_type, 1);
    call("ffi.ListClear", &[&list])?;
    let mut shared = list;
    for _ in 0..100 {
        shared = call("ffi.Array", &[&shared, &shared])?;
    }
    assert_eq!(find(&shared)?.device_type, 1);
    Ok(())
}

#[test]
fn type_keys_come_in_order() -> Result<()> {
    let keys = call("ffi.GetRegisteredTypeKeys", &[])?.get::<Array<String>>()?;
    assert_eq!(keys.get(0)?.as_bytes(), b"None");
    assert!(keys.as_slice().iter().any(|key| key.view().bytes_of_string() == Some(b"ffi.Dict")));
    Ok(())
}

//! Sessions with servers whose answers are prepared, right and wrong.

mod script;
#[cfg(unix)]
mod served;

use std::vec;
use std::vec::Vec;

use ferrite_alloc_ext::containers::Array;
use ferrite_alloc_ext::device::{Device, DeviceTensor};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, String, Tensor};

use self::script::{bytes, exception, handle, none, result, session, values};
use super::Session;
use crate::wire::{Item, TensorItem, code};

const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

fn int(number: i64) -> Vec<u8> {
    result(type_index::INT, Item::int(number))
}

#[test]
fn functions_of_the_server_are_called_and_released() -> Result<()> {
    let (session, sent) = session(&[handle(7), int(5), none()]);
    let add = session.function("add")?;
    assert_eq!(add.call::<i64>((2, 3.5))?, 5);
    drop(add);
    let requests = sent.take();
    let codes: Vec<i32> = requests.iter().map(|request| request.0).collect();
    assert_eq!(codes, [code::GET_GLOBAL, code::CALL_FUNCTION, code::FREE_HANDLE]);
    let call = [
        &7u64.to_le_bytes()[..],
        &2i32.to_le_bytes(),
        &1i32.to_le_bytes(),
        &2i64.to_le_bytes(),
        &3i32.to_le_bytes(),
        &3.5f64.to_le_bytes(),
    ];
    assert_eq!(requests[1].1, call.concat());
    assert_eq!(requests[2].1[8..], 7u64.to_le_bytes());
    Ok(())
}

#[test]
fn the_session_ends_with_the_last_that_uses_it() -> Result<()> {
    let (session, sent) = session(&[handle(7), none()]);
    let function = session.function("f")?;
    drop(session);
    assert_eq!(sent.codes(), [code::GET_GLOBAL]);
    drop(function);
    assert_eq!(sent.codes(), [code::FREE_HANDLE, code::SHUTDOWN]);
    Ok(())
}

#[test]
fn errors_have_their_kind_and_the_session_goes_on() -> Result<()> {
    let answers =
        [handle(7), exception("IndexError: 9 of 3"), exception("Check failed"), int(1), none()];
    let (session, _sent) = session(&answers);
    let function = session.function("f")?;
    let error = function.call::<i64>(()).unwrap_err();
    assert_eq!((error.kind().as_str(), error.message()), ("IndexError", "9 of 3"));
    let error = function.call::<i64>(()).unwrap_err();
    assert_eq!(error.kind_bytes(), b"RPCError");
    assert_eq!(error.message(), "Error caught from RPC call:\nCheck failed");
    assert_eq!(function.call::<i64>(())?, 1);
    Ok(())
}

#[test]
fn missing_functions_are_attribute_errors() {
    let (session, _sent) = session(&[handle(0), none()]);
    for _ in 0..2 {
        let error = session.function("absent").map(drop).unwrap_err();
        assert_eq!(error.kind().as_str(), "AttributeError");
    }
}

#[test]
fn a_broken_session_gives_errors_for_every_use() -> Result<()> {
    let (session, sent) = session(&[handle(7)]);
    let function = session.function("f")?;
    for _ in 0..3 {
        assert_eq!(function.call::<i64>(()).unwrap_err().kind_bytes(), b"RPCError");
    }
    let tensor = DeviceTensor::empty(session.cpu(), &[1], FLOAT32);
    assert_eq!(tensor.map(drop).unwrap_err().kind_bytes(), b"RPCError");
    drop(function);
    assert_eq!(sent.codes(), [code::GET_GLOBAL, code::CALL_FUNCTION]);
    Ok(())
}

#[test]
fn a_closed_session_gives_errors_for_every_use() -> Result<()> {
    let (session, sent) = session(&[handle(7)]);
    let function = session.function("f")?;
    let close = session.to_module()?.get("CloseRPCConnection")?;
    close.call::<()>(())?;
    close.call::<()>(())?;
    let error = function.call::<i64>(()).unwrap_err();
    assert_eq!(error.message(), "The RPC session is closed");
    assert_eq!(sent.codes(), [code::GET_GLOBAL, code::SHUTDOWN]);
    Ok(())
}

#[test]
fn values_of_each_type_are_results() -> Result<()> {
    let answers = [
        handle(7),
        result(type_index::NONE, Item::None),
        result(type_index::BOOL, Item::Word(type_index::BOOL, 1)),
        result(type_index::SMALL_STR, Item::string(b"a\0b")),
        result(type_index::BYTES, Item::Bytes(type_index::BYTE_ARRAY_PTR, b"\xff")),
        result(type_index::DATA_TYPE, Item::dtype(FLOAT32)),
        result(type_index::OPAQUE_PTR, Item::pointer(0x1234)),
        result(type_index::ARRAY, Item::pointer(9)),
        none(),
        none(),
    ];
    let (session, sent) = session(&answers);
    let f = session.function("f")?;
    let next = || f.call_packed(&[]);
    assert!(next()?.is_none());
    assert!(next()?.get::<bool>()?);
    assert_eq!(next()?.get::<String>()?.as_bytes(), b"a\0b");
    assert_eq!(next()?.get::<ferrite_core::Bytes>()?.as_bytes(), b"\xff");
    assert_eq!(next()?.get::<DLDataType>()?, FLOAT32);
    // Not a pointer, which functions of this process would follow.
    assert_eq!(next()?.get::<i64>()?, 0x1234);
    let array: Any = next()?;
    assert_eq!(array.type_index(), 115);
    assert!(array.get::<Array<i64>>().is_err());
    drop(array);
    assert_eq!(sent.take().pop().map(|request| request.0), Some(code::FREE_HANDLE));
    Ok(())
}

#[test]
fn objects_of_the_server_are_arguments() -> Result<()> {
    let answers = [
        handle(7),
        result(type_index::MODULE, Item::pointer(8)),
        result(type_index::MAP, Item::pointer(9)),
        result(type_index::FUNCTION, Item::pointer(10)),
        int(0),
        none(),
        none(),
        none(),
        none(),
    ];
    let (session, sent) = session(&answers);
    let f = session.function("f")?;
    let (module, map, function) = (f.call_packed(&[])?, f.call_packed(&[])?, f.call_packed(&[])?);
    sent.take();
    f.call_packed(&[
        module.view(),
        map.view(),
        function.view(),
        AnyView::from(&session.to_module()?),
    ])?;
    let handles = [(73, 8u64), (115, 9), (68, 10), (73, 0)];
    let mut expected = [7u64.to_le_bytes().to_vec(), 4i32.to_le_bytes().to_vec()].concat();
    for (kind, handle) in handles {
        let kind: i32 = kind;
        expected.extend_from_slice(&kind.to_le_bytes());
        if kind == 115 {
            expected.extend_from_slice(&kind.to_le_bytes());
        }
        expected.extend_from_slice(&handle.to_le_bytes());
    }
    assert_eq!(sent.take(), [(code::CALL_FUNCTION, expected)]);
    Ok(())
}

#[test]
fn values_of_this_process_are_refused_before_anything_is_sent() -> Result<()> {
    let (other, _) = session(&[handle(1), none()]);
    let foreign = other.function("g")?;
    let (session, sent) = session(&[handle(7), int(1), none()]);
    let f = session.function("f")?;
    sent.take();
    let local = Tensor::from_slice(&[1f32], &[1])?;
    let array: Array<i64> = [1i64].try_into()?;
    let function = Function::from_typed(|| 1i64)?;
    let device = DLDevice::from(other.cpu());
    for argument in [
        AnyView::from(&local),
        AnyView::from(&array),
        AnyView::from(&function),
        AnyView::from(&foreign),
        AnyView::from(&CPU),
        AnyView::from(&device),
    ] {
        let error = f.call_packed(&[argument]).map(drop).unwrap_err();
        assert_eq!(error.kind().as_str(), "ValueError", "{}", error.message());
    }
    assert!(sent.codes().is_empty());
    assert_eq!(f.call::<i64>(())?, 1);
    Ok(())
}

#[test]
fn tensors_are_allocated_copied_and_freed_on_the_server() -> Result<()> {
    let content: Vec<u8> = [1f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let answers = [handle(0x55), handle(0), none(), none(), bytes(&content), none(), none()];
    let (session, sent) = session(&answers);
    let tensor = DeviceTensor::from_slice(session.cpu(), &[1f32, 2.0], &[2])?;
    assert_eq!(*tensor.read::<f32>()?, [1.0, 2.0]);
    drop(tensor);
    let requests = sent.take();
    let codes: Vec<i32> = requests.iter().map(|request| request.0).collect();
    assert_eq!(
        codes,
        [
            code::ALLOCATE_DATA,
            code::GET_GLOBAL,
            code::COPY_TO_REMOTE,
            code::SYNCHRONIZE,
            code::COPY_FROM_REMOTE,
            code::SYNCHRONIZE,
            code::FREE_DATA
        ]
    );
    assert!(requests[2].1.ends_with(&content));
    Ok(())
}

#[test]
fn copies_are_cut_to_the_packets_that_the_server_takes() -> Result<()> {
    // A packet has 52 bytes besides the content.
    let answers =
        [handle(0x55), handle(3), int(60), none(), none(), none(), none(), none(), none()];
    let (session, sent) = session(&answers);
    let tensor = DeviceTensor::from_slice(session.cpu(), &[7u8; 20], &[20])?;
    let copies: Vec<(usize, u64)> = sent
        .take()
        .iter()
        .filter(|request| request.0 == code::COPY_TO_REMOTE)
        .map(|(_, content)| {
            let offset = content[32..40].try_into().map(u64::from_le_bytes).unwrap();
            (content.len() + 4, offset)
        })
        .collect();
    assert_eq!(copies, [(60, 0), (60, 8), (56, 16)]);
    drop(tensor);
    Ok(())
}

#[test]
fn tensors_of_the_server_are_results() -> Result<()> {
    let tensor =
        TensorItem { data: 5, device: CPU, dtype: FLOAT32, shape: &[2, 3], byte_offset: 8 };
    let answer = values(&[Item::int(70), Item::Tensor(tensor), Item::pointer(6)]);
    let (session, sent) = session(&[handle(7), answer, int(0), none(), none()]);
    let f = session.function("f")?;
    let found: Tensor = f.call_packed(&[])?.get()?;
    assert_eq!((found.shape(), found.dtype()), (&[2, 3][..], FLOAT32));
    assert_eq!(Device::from(found.device()), session.cpu());
    assert!(found.as_slice::<f32>().is_err());
    f.call_packed(&[AnyView::from(&found)])?;
    drop(found);
    let requests = sent.take();
    assert_eq!(requests[2].1[16..24], 5u64.to_le_bytes());
    assert_eq!(requests[3].1[8..], 6u64.to_le_bytes());
    Ok(())
}

/// Answers to a call that break the protocol.
fn hostile() -> Vec<Vec<u8>> {
    let tensor = |shape, device| {
        let tensor = TensorItem { data: 5, device, dtype: FLOAT32, shape, byte_offset: 0 };
        values(&[Item::int(70), Item::Tensor(tensor), Item::pointer(6)])
    };
    let packet = |length: u64, content: &[u8]| [&length.to_le_bytes()[..], content].concat();
    let mut long = int(1);
    long[0] += 1;
    long.push(0);
    vec![
        packet(3, &[0; 3]),
        packet(u64::MAX, &4i32.to_le_bytes()),
        packet(4, &1i32.to_le_bytes()),
        packet(4, &99i32.to_le_bytes()),
        packet(4, &4i32.to_le_bytes()),
        packet(4, &5i32.to_le_bytes()),
        bytes(b"unasked"),
        values(&[]),
        values(&[Item::int(1)]),
        values(&[Item::int(1), Item::int(1), Item::int(1)]),
        values(&[Item::int(1), Item::int(1), Item::int(1), Item::int(1)]),
        values(&[Item::string(b"1"), Item::int(1)]),
        values(&[Item::int(i64::MAX), Item::int(1)]),
        values(&[Item::int(70), Item::pointer(6)]),
        result(1, Item::Object(71, b"")),
        long,
        tensor(&[-1], CPU),
        tensor(&[i64::MAX, i64::MAX], CPU),
        tensor(&[1], DLDevice { device_type: 129, device_id: 0 }),
        tensor(&[1], DLDevice { device_type: -1, device_id: 0 }),
    ]
}

#[test]
fn hostile_answers_are_errors() -> Result<()> {
    for (index, answer) in hostile().into_iter().enumerate() {
        let (session, _sent) = session(&[handle(7), answer]);
        let f = session.function("f")?;
        for _ in 0..2 {
            let error = f.call_packed(&[]).map(drop).unwrap_err();
            assert_eq!(error.kind_bytes(), b"RPCError", "answer {index}: {}", error.message());
        }
    }
    Ok(())
}

#[test]
fn a_copy_of_another_length_is_an_error_that_writes_nothing() -> Result<()> {
    for content in [&[9u8; 7][..], &[9; 9]] {
        let (session, _sent) = session(&[handle(0x55), handle(0), bytes(content)]);
        let tensor = DeviceTensor::empty(session.cpu(), &[2], FLOAT32)?;
        let mut target = [1f32, 2.0];
        let error = tensor.read_into(&mut target).unwrap_err();
        assert_eq!((error.kind_bytes(), target), (&b"RPCError"[..], [1.0, 2.0]));
    }
    Ok(())
}

#[test]
fn limits_of_packets_that_no_copy_fits_are_errors() -> Result<()> {
    for limit in [i64::MIN, -1, 0, 1, 52] {
        let (session, _sent) = session(&[handle(0x55), handle(3), int(limit), none()]);
        let tensor = DeviceTensor::empty(session.cpu(), &[2], FLOAT32)?;
        let error = tensor.copy_from_slice(&[1f32, 2.0]).unwrap_err();
        assert_eq!(error.kind_bytes(), b"RPCError", "{limit}");
    }
    Ok(())
}

#[test]
fn devices_of_ended_sessions_are_errors() -> Result<()> {
    let (closed, _sent) = session(&[]);
    let cpu = closed.cpu();
    assert!(cpu.exists());
    closed.close()?;
    assert!(!cpu.exists() && DeviceTensor::empty(cpu, &[1], FLOAT32).is_err());
    // Another test may take the number of a session that is gone, but not each time.
    assert!((0..100).any(|_| {
        let (gone, _sent) = session(&[]);
        let cpu = gone.cpu();
        drop(gone);
        DeviceTensor::empty(cpu, &[1], FLOAT32).is_err()
    }));
    Ok(())
}

#[test]
fn a_module_of_another_kind_is_no_session() -> Result<()> {
    let module = Module::system_lib("rpc_client_test_")?;
    assert_eq!(Session::of(&module).map(drop).unwrap_err().kind().as_str(), "TypeError");
    let (session, _sent) = session(&[]);
    let module = session.to_module()?;
    assert_eq!(module.kind()?, c"rpc");
    assert_eq!(Session::of(&module)?.number(), session.number());
    Ok(())
}

#[test]
fn imports_happen_on_the_server() -> Result<()> {
    let module = |handle| result(type_index::MODULE, Item::pointer(handle));
    let answers = [
        handle(7),
        module(8),
        module(9),
        handle(10),
        result(type_index::NONE, Item::None),
        none(),
        none(),
        none(),
        none(),
    ];
    let (session, sent) = session(&answers);
    let load = session.function("load")?;
    let (parent, child): (Module, Module) = (load.call(())?, load.call(())?);
    sent.take();
    parent.import_module(&child)?;
    let requests = sent.take();
    assert!(requests[0].1.ends_with(b"tvm.rpc.server.ImportModule"));
    assert_eq!(
        (requests[1].0, &requests[1].1[..8]),
        (code::CALL_FUNCTION, &10u64.to_le_bytes()[..])
    );
    assert!(parent.imports()?.is_empty());
    Ok(())
}

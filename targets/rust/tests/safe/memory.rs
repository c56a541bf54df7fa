//! Tensor objects over one memory, which share their borrows, and functions of the library that
//! read and write elements, which borrow them as functions of the program do.
#![cfg(feature = "relax")]

use ferrite::convert::AnyCompatible;
use ferrite::device::{Device, DeviceTensor};
use ferrite::relax::machine::copy_tensor_to;
use ferrite::relax::memory::{Allocator, Kind, Storage};
use ferrite::tensor::Element;
use ferrite::{
    Any, AnyView, Array, Bytes, ErrorKind, Function, Map, Result, Shape, String, Tensor,
};

/// Asserts that a call was refused because of a borrow.
fn in_use<T>(outcome: Result<T>) {
    let error = outcome.map(drop).expect_err("a borrow conflicts");
    assert_eq!(error.kind(), ErrorKind::RuntimeError, "{error}");
    assert!(error.to_string().contains("in use"), "{error}");
}

/// Asserts that two tensors share their borrows.
fn share<T: Element>(one: &Tensor, other: &Tensor) -> Result<()> {
    for (one, other) in [(one, other), (other, one)] {
        let elements = one.borrow_mut::<T>()?;
        in_use(other.as_slice::<T>());
        in_use(other.borrow_mut::<T>());
        drop(elements);
        let elements = one.as_slice::<T>()?;
        in_use(other.borrow_mut::<T>());
        drop((other.as_slice::<T>()?, elements));
    }
    Ok(())
}

fn call<T: AnyCompatible>(name: &str, args: &[AnyView<'_>]) -> Result<T> {
    Function::global(name)?.call_packed(args)?.get()
}

fn vector() -> Result<Tensor> {
    Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[4])
}

#[test]
fn tensors_in_one_storage_share_their_borrows() -> Result<()> {
    let (storage, shape) =
        (Storage::new(Allocator::host().allocate(64)?)?, Shape::from_slice(&[4])?);
    let place = |offset: i64| -> Result<Tensor> {
        let dtype = f32::DTYPE;
        call(
            "vm.builtin.alloc_tensor",
            &[(&storage).into(), offset.into(), (&shape).into(), (&dtype).into()],
        )
    };
    let (one, other) = (place(0)?, place(4)?);
    one.borrow_mut::<f32>()?.fill(1.0);
    other.borrow_mut::<f32>()?.fill(2.0);
    share::<f32>(&one, &other)?;
    drop(storage);
    assert_eq!(one.as_slice::<f32>()?, [1.0, 2.0, 2.0, 2.0]);
    // A guard that is leaked keeps the borrow of the storage.
    std::mem::forget(one.borrow_mut::<f32>()?);
    in_use(other.as_slice::<f32>());
    Ok(())
}

#[test]
fn tensors_that_were_not_written_are_zeros() -> Result<()> {
    let dtype = f32::DTYPE;
    let device = Device::CPU.into();
    let large = 1 << 17; // of which the C heap knows whether it has been used
    for (kind, bytes) in
        [(Kind::Naive, 4096), (Kind::Pooled, 4096), (Kind::Naive, large), (Kind::Pooled, large)]
    {
        let shape = Shape::from_slice(&[bytes as i64 / 4])?;
        let allocator = Allocator::new(device, kind)?;
        let mut kept = Vec::new();
        for round in 0..if cfg!(miri) { 2 } else { 8 } {
            let storage = Storage::new(allocator.allocate(bytes)?)?;
            let tensor: Tensor = call(
                "vm.builtin.alloc_tensor",
                &[(&storage).into(), 0.into(), (&shape).into(), (&dtype).into()],
            )?;
            // A pooled block that is used again has what was written before.
            let is_fresh = kind == Kind::Naive || round == 0;
            let sum: f32 = tensor.as_slice::<f32>()?.iter().sum();
            assert!(!is_fresh || sum == 0.0, "{kind:?}: {sum}");
            tensor.borrow_mut::<f32>()?.fill(1.0);
            // Memory of other sizes, which the heap joins with that of the block.
            kept.push(vec![1u8; bytes + round]);
        }
    }
    Ok(())
}

#[test]
fn reshaped_tensors_share_the_borrows_of_the_tensor() -> Result<()> {
    let (x, shape) = (vector()?, Shape::from_slice(&[2, 2])?);
    let reshaped: Tensor = call("vm.builtin.reshape", &[(&x).into(), (&shape).into()])?;
    let again: Tensor = call("vm.builtin.reshape", &[(&reshaped).into(), (&shape).into()])?;
    share::<f32>(&x, &reshaped)?;
    share::<f32>(&again, &reshaped)?;
    share::<f32>(&again, &x)
}

#[test]
fn views_of_a_cache_share_their_borrows() -> Result<()> {
    let rows = Tensor::from_slice(&[1.0f32, 2.0], &[2, 1])?;
    let shape = Shape::from_slice(&[8, 1])?;
    let cache: Any = call(
        "vm.builtin.attention_kv_cache_create",
        &[(&rows).into(), (&shape).into(), (-1).into()],
    )?;
    let view = || call::<Tensor>("vm.builtin.attention_kv_cache_view", &[(&cache).into()]);
    let (one, other) = (view()?, view()?);
    share::<f32>(&one, &other)?;
    let append = |rows: &Tensor| {
        call::<Any>("vm.builtin.attention_kv_cache_append", &[(&cache).into(), rows.into()])
    };
    let elements = one.as_slice::<f32>()?;
    in_use(append(&rows));
    in_use(call::<Any>("vm.builtin.attention_kv_cache_update", &[(&cache).into(), (&rows).into()]));
    assert_eq!(elements, [1.0, 2.0]);
    drop(elements);
    let elements = rows.borrow_mut::<f32>()?;
    in_use(append(&rows));
    drop(elements);
    append(&rows)?;
    // Rows of the cache itself are appended to it.
    append(&view()?)?;
    assert_eq!(view()?.as_slice::<f32>()?, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    Ok(())
}

/// Returns a file of parameters with one tensor of eight numbers, which starts `padding` bytes
/// later than it has to.
fn parameters(padding: usize) -> Vec<u8> {
    let name = vec![b'x'; 1 + padding];
    let mut file = 0xF7E5_8D4F_0504_9CB7_u64.to_le_bytes().to_vec();
    file.extend([0; 8]);
    for number in [1, name.len() as u64] {
        file.extend(number.to_le_bytes());
    }
    file.extend(name);
    file.extend(1u64.to_le_bytes());
    file.extend(0xDD5E_40F0_96B4_A13F_u64.to_le_bytes());
    file.extend([0; 8]);
    for number in [1i32, 0, 1] {
        file.extend(number.to_le_bytes());
    }
    file.extend([2, 32, 1, 0]); // float32
    file.extend(8i64.to_le_bytes());
    file.extend(32i64.to_le_bytes());
    file.extend([1; 32]);
    file
}

#[test]
fn tensors_of_a_file_do_not_write_its_bytes() -> Result<()> {
    for padding in 0..64 {
        let file = Bytes::new(&parameters(padding))?;
        let map: Map<String, Tensor> = call("runtime.LoadParams", &[(&file).into()])?;
        let tensor = map.iter().next().expect("a tensor")?.1;
        let before: &[u8] = &file;
        in_use(tensor.borrow_mut::<f32>());
        let shape = Shape::from_slice(&[2, 4])?;
        let reshaped: Tensor = call("vm.builtin.reshape", &[(&tensor).into(), (&shape).into()])?;
        in_use(reshaped.borrow_mut::<f32>());
        assert_eq!((reshaped.as_slice::<f32>()?.len(), before.last()), (8, Some(&1)));
    }
    Ok(())
}

/// Calls a global function whose argument `place` is a tensor of float32 that the caller borrows
/// for reading, then for writing.
fn borrows(name: &str, args: &[AnyView<'_>], place: usize, writes: bool) -> Result<()> {
    let tensor: Tensor = args[place].get()?;
    let function = Function::global(name)?;
    let elements = tensor.as_slice::<f32>()?;
    let outcome = function.call_packed(args);
    if writes {
        in_use(outcome);
    } else {
        outcome?;
    }
    drop(elements);
    let elements = tensor.borrow_mut::<f32>()?;
    in_use(function.call_packed(args));
    drop(elements);
    function.call_packed(args).map(drop)
}

#[test]
fn builtins_borrow_what_they_read_and_write() -> Result<()> {
    let (x, y) = (vector()?, vector()?);
    let (vx, vy) = (AnyView::from(&x), AnyView::from(&y));
    borrows("vm.builtin.to_device", &[vx, 1.into(), 0.into()], 0, false)?;
    let elements = x.borrow_mut::<f32>()?;
    in_use(copy_tensor_to(&x, Allocator::host()));
    drop(elements);
    borrows(
        "vm.builtin.sample_top_p_from_logits",
        &[vx, 1.0.into(), 0.9.into(), 0.5.into()],
        0,
        false,
    )?;
    borrows("vm.builtin.apply_softmax_with_temperature", &[vx, 1.0.into()], 0, true)?;
    borrows("tvm.contrib.random.uniform", &[0.0.into(), 1.0.into(), vx], 2, true)?;
    borrows("tvm.contrib.random.normal", &[0.0.into(), 1.0.into(), vx], 2, true)?;
    borrows("tvm.contrib.random.random_fill", &[vx], 0, true)?;
    borrows("tvm.contrib.sort.sort", &[vx, vy, 0.into(), true.into()], 0, false)?;
    borrows("tvm.contrib.sort.sort", &[vx, vy, 0.into(), true.into()], 1, true)
}

#[test]
fn penalties_borrow_logits_and_tokens() -> Result<()> {
    let (x, tokens) = (vector()?, Tensor::from_slice(&[1i32], &[1])?);
    let args = [(&x).into(), (&tokens).into(), AnyView::from(2.0)];
    borrows("vm.builtin.apply_repetition_penalty", &args, 0, true)?;
    let row = Tensor::from_slice(&[0.5f32, 0.5], &[1, 2])?;
    let draws = Tensor::from_slice(&[0.1f32], &[1])?;
    borrows("vm.builtin.multinomial_from_uniform", &[(&row).into(), (&draws).into()], 0, false)?;
    borrows("vm.builtin.multinomial_from_uniform", &[(&row).into(), (&draws).into()], 1, false)?;
    let elements = tokens.borrow_mut::<i32>()?;
    in_use(call::<Any>("vm.builtin.apply_repetition_penalty", &args));
    drop(elements);
    Ok(())
}

#[test]
fn conditions_and_shape_heaps_are_borrowed() -> Result<()> {
    let heap = Tensor::from_slice(&[7i64, 1], &[2])?;
    let view = AnyView::from(&heap);
    let read = || call::<i64>("vm.builtin.make_prim_value", &[view, 1.into(), 0.into()]);
    let write = || {
        call::<Any>(
            "vm.builtin.match_prim_value",
            &[9.into(), view, 1.into(), 1.into(), AnyView::NONE],
        )
    };
    let condition = || call::<bool>("vm.builtin.read_if_cond", &[view]);
    let make = || call::<Shape>("vm.builtin.make_shape", &[view, 1.into(), 1.into(), 0.into()]);
    let shape = Shape::from_slice(&[9])?;
    let matches = [(&shape).into(), view, 1.into(), 1.into(), 1.into(), AnyView::NONE];
    let matches = || call::<Any>("vm.builtin.match_shape", &matches);
    let elements = heap.as_slice::<i64>()?;
    assert_eq!((read()?, condition()?), (7, true));
    in_use(write());
    in_use(matches());
    assert_eq!((elements[1], make()?.as_slice()), (1, &[7][..]));
    drop(elements);
    let elements = heap.borrow_mut::<i64>()?;
    in_use(read());
    in_use(write());
    in_use(condition());
    in_use(make());
    in_use(matches());
    drop(elements);
    write()?;
    matches()?;
    assert_eq!(heap.as_slice::<i64>()?, [7, 9]);
    Ok(())
}

#[test]
fn states_are_borrowed_while_they_are_copied() -> Result<()> {
    let initial = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let keep = {
        let kept = kept.clone();
        Function::from_typed(move |state: Tensor, slots: Tensor, _: Tensor, _: Tensor| {
            kept.lock().expect("no panic").extend([state, slots]);
        })?
    };
    let (kernels, values) =
        (Array::from_slice(&[keep])?, Array::from_slice(core::slice::from_ref(&initial))?);
    let create =
        [1.into(), 2.into(), 1.into(), (&kernels).into(), (&kernels).into(), (&values).into()];
    let state: Any = call("vm.builtin.rnn_state_create", &create)?;
    let state = AnyView::from(&state);
    let add =
        |sequence: i64| call::<Any>("vm.builtin.kv_state_add_sequence", &[state, sequence.into()]);
    let elements = initial.borrow_mut::<f32>()?;
    in_use(add(0));
    drop(elements);
    add(0)?;
    let (sequences, lengths) = (Shape::from_slice(&[0])?, Shape::from_slice(&[1])?);
    let begin = || {
        call::<Any>(
            "vm.builtin.kv_state_begin_forward",
            &[state, (&sequences).into(), (&lengths).into()],
        )
    };
    begin()?;
    call::<Any>("vm.builtin.rnn_state_set", &[state, 0.into(), 0.into(), (&initial).into()])?;
    call::<Any>("vm.builtin.kv_state_end_forward", &[state])?;
    let (states, slots) = match kept.lock().expect("no panic").as_slice() {
        [states, slots] => (states.clone(), slots.clone()),
        _ => panic!("a kernel was called once"),
    };
    let fork = || {
        call::<Any>("vm.builtin.kv_state_fork_sequence", &[state, 0.into(), 1.into(), (-1).into()])
    };
    let read =
        || call::<Tensor>("vm.builtin.rnn_state_debug_get", &[state, 0.into(), 0.into(), 0.into()]);
    let elements = states.as_slice::<f32>()?;
    in_use(add(1));
    in_use(fork());
    read()?;
    drop(elements);
    let elements = states.borrow_mut::<f32>()?;
    in_use(read());
    drop(elements);
    fork()?;
    let places = slots.as_slice::<i32>()?;
    in_use(begin());
    drop(places);
    Ok(())
}

#[test]
fn device_tensors_borrow_their_elements() -> Result<()> {
    let x = vector()?;
    let there = DeviceTensor::try_from(x.clone())?;
    let elements = x.borrow_mut::<f32>()?;
    in_use(there.read_into(&mut [0.0f32; 4]));
    in_use(there.read::<f32>().map(drop));
    in_use(there.to_device(Device::CPU));
    drop(elements);
    let elements = x.as_slice::<f32>()?;
    assert_eq!((&*there.read::<f32>()?, elements.len()), (&[1.0, 2.0, 3.0, 4.0][..], 4));
    // A slice of it may be borrowed: it is not written.
    assert_eq!(there.copy_from_slice(&[0.0f32; 4]).unwrap_err().kind(), ErrorKind::ValueError);
    assert_eq!(there.copy_from(&there).unwrap_err().kind(), ErrorKind::ValueError);
    Ok(())
}

//! Tests what kernels get when the tensors of a caller are not aligned, at every entry to the
//! machine, or those that a function returns to the model.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;
#[path = "support/unaligned.rs"]
mod unaligned;

use core::ffi::c_void;
use std::sync::{Arc, Mutex};

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::abi::{DLDevice, DLTensor, TVMFFIAny, type_index};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{Any, AnyView, Function, Shape, String as Text, Tensor};
use ferrite_relax::compiled::{move_from_packed_return, set_packed_arg};
use ferrite_relax::machine::Machine;
use ferrite_relax::memory::{Allocator, Kind, Storage};
use support::*;
use unaligned::{SHIFTS, Shift, shifted, shifted_value};

/// Addresses and elements of the tensors that a kernel got.
type Seen = Arc<Mutex<Vec<(usize, u64, Vec<f32>)>>>;

/// Records a tensor.
fn record(seen: &Seen, tensor: TensorRef<'_>) {
    // SAFETY: nobody writes the elements while the kernel runs.
    let elements = unsafe { tensor.as_slice::<f32>() }.map(<[f32]>::to_vec);
    // Elements at odd addresses cannot be borrowed.
    let place = (tensor.data_ptr().addr(), tensor.byte_offset(), elements.unwrap_or_default());
    seen.lock().unwrap().push(place);
}

/// Creates a machine whose `main(x, y)` passes both to a kernel, which records them, tuples element
/// by element, and returns `x`, unless it is a `DLTensor*`.
fn recorder() -> Result<(Machine, Seen)> {
    let seen: Seen = Arc::default();
    let log = seen.clone();
    let kernel = Function::from_packed(move |args| {
        for arg in args {
            match arg.try_get::<ArrayObject>()? {
                Some(tuple) => tuple
                    .as_slice()
                    .iter()
                    .filter_map(|part| {
                        TensorRef::from_view(&part.view()).map(|tensor| record(&log, tensor))
                    })
                    .for_each(drop),
                None => {
                    TensorRef::from_view(arg).map(|tensor| record(&log, tensor)).unwrap_or_default()
                }
            }
        }
        Ok(args[0].retain().unwrap_or_default())
    })?;
    let main = bytecode("main", &["x", "y"], 3, vec![call(2, 0, &[0, 1]), ret(2)]);
    let machine = Machine::new(load(&executable(&[packed("kernel"), main], &[]))?);
    machine.initialize_on_cpu(Kind::Pooled, &|_| Ok(Some(kernel.clone())))?;
    Ok((machine, seen))
}

fn floats() -> Result<Tensor> {
    Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])
}

/// Checks that a kernel got so many tensors, all where kernels expect them, with the elements of
/// [`floats`].
fn expect_aligned(seen: &Seen, count: usize, context: &str) {
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(seen.len(), count, "{context}");
    for (address, byte_offset, elements) in seen {
        assert_eq!((address % 64, byte_offset), (0, 0), "{context}");
        assert_eq!(elements, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{context}");
    }
}

fn main_of(machine: &Machine) -> usize {
    machine.executable().find(b"main").expect("a function main")
}

#[test]
fn kernels_get_aligned_tensors_from_every_entry() -> Result<()> {
    let (machine, seen) = recorder()?;
    for shift in SHIFTS {
        let context = format!("{shift:?}");
        let (x, y) = (shifted(&floats()?, shift)?, shifted(&floats()?, shift)?);
        let args = [AnyView::from(&x), AnyView::from(&y)];
        let result: Tensor = machine.call(main_of(&machine), &args)?.get()?;
        assert_eq!(result.as_slice::<f32>()?, floats()?.as_slice::<f32>()?);
        expect_aligned(&seen, 2, &context);
        let closure = machine.closure(b"main")?.expect("a closure");
        closure.call(&machine, &args)?;
        expect_aligned(&seen, 2, &context);
        machine.invoke(&AnyView::from(&closure), &args)?;
        expect_aligned(&seen, 2, &context);
        machine.save_function(b"main", Text::new("saved")?, true, &args)?;
        machine.closure(b"saved")?.expect("a closure").call(&machine, &[])?;
        expect_aligned(&seen, 2, &context);
        machine.set_input(b"main", false, &args)?;
        for _ in 0..2 {
            machine.invoke_stateful(b"main")?;
            expect_aligned(&seen, 2, &context);
        }
        let tuple: Any =
            ArrayObject::from_slice(&[x.clone().into(), 7i64.into(), y.clone().into()])?.into();
        machine.call(main_of(&machine), &[args[0], tuple.view()])?;
        expect_aligned(&seen, 3, &context);
    }
    Ok(())
}

#[test]
fn a_tensor_is_borrowed_while_it_is_copied() -> Result<()> {
    let (machine, seen) = recorder()?;
    let x = shifted(&floats()?, Shift::Pointer(4))?;
    let args = [AnyView::from(&x), AnyView::from(1i64)];
    let elements = x.borrow_mut::<f32>()?;
    let error = machine.call(main_of(&machine), &args).unwrap_err();
    assert_eq!(error.kind_bytes(), b"RuntimeError");
    drop(elements);
    let _elements = x.as_slice::<f32>()?;
    machine.call(main_of(&machine), &args)?;
    expect_aligned(&seen, 1, "read");
    Ok(())
}

#[test]
fn nested_tuples_are_looked_at_and_the_callers_stay() -> Result<()> {
    let (machine, seen) = recorder()?;
    let part: Any = shifted(&floats()?, Shift::Pointer(4))?.into();
    let inner: Any = ArrayObject::from_slice(core::slice::from_ref(&part))?.into();
    let outer = ArrayObject::from_slice(&[inner, 1i64.into()])?;
    let result: ArrayObject =
        machine.call(main_of(&machine), &[AnyView::from(&outer), 0i64.into()])?.get()?;
    assert_eq!(result.len(), 2);
    let element = result.as_slice()[0].get::<ArrayObject>()?.as_slice()[0].get::<Tensor>()?;
    assert!(element.dl_tensor().data.addr().is_multiple_of(64));
    assert_eq!(element.as_slice::<f32>()?, floats()?.as_slice::<f32>()?);
    let original = outer.as_slice()[0].get::<ArrayObject>()?.as_slice()[0].get::<Tensor>()?;
    assert_eq!(original.dl_tensor().data, part.get::<Tensor>()?.dl_tensor().data);
    drop(seen);
    Ok(())
}

#[test]
fn aligned_tensors_are_used_in_place() -> Result<()> {
    let (machine, seen) = recorder()?;
    let x = floats()?;
    let tuple = ArrayObject::from_slice(&[x.clone().into()])?;
    machine.call(main_of(&machine), &[AnyView::from(&x), AnyView::from(&tuple)])?;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let addresses: Vec<_> = seen.iter().map(|(address, ..)| *address).collect();
    assert_eq!(addresses, [x.dl_tensor().data.addr(); 2]);
    // A byte offset that leads to an aligned address needs no copy.
    let (machine, seen) = recorder()?;
    let view = shifted(&x, Shift::Offset(64))?;
    machine.call(main_of(&machine), &[AnyView::from(&view), 0i64.into()])?;
    assert_eq!(seen.lock().unwrap()[0].0, view.dl_tensor().data.addr() + 64);
    Ok(())
}

/// Returns a `DLTensor*` as an argument.
fn pointer(tensor: &DLTensor) -> AnyView<'_> {
    let mut raw = TVMFFIAny::NONE;
    raw.type_index = type_index::DL_TENSOR_PTR;
    raw.payload.v_ptr = core::ptr::from_ref(tensor).cast_mut().cast();
    // SAFETY: the tensor outlives the view.
    unsafe { AnyView::from_raw(raw) }
}

#[test]
fn pointers_to_tensors_are_copied_too() -> Result<()> {
    let (machine, seen) = recorder()?;
    for shift in SHIFTS {
        let x = shifted(&floats()?, shift)?;
        machine.call(main_of(&machine), &[pointer(x.dl_tensor()), pointer(x.dl_tensor())])?;
        expect_aligned(&seen, 2, &format!("{shift:?}"));
    }
    let x = floats()?;
    machine.call(main_of(&machine), &[pointer(x.dl_tensor()), 0i64.into()])?;
    assert_eq!(seen.lock().unwrap()[0].0, x.dl_tensor().data.addr());
    Ok(())
}

#[test]
fn pointers_to_tensors_are_not_returned() -> Result<()> {
    let main = bytecode("main", &["x"], 1, vec![ret(0)]);
    let machine = Machine::new(load(&executable(&[main], &[]))?);
    machine.initialize_on_cpu(Kind::Pooled, &|_| Ok(None))?;
    let x = floats()?;
    assert!(machine.call(main_of(&machine), &[AnyView::from(&x)]).is_ok());
    let error = machine.call(main_of(&machine), &[pointer(x.dl_tensor())]).unwrap_err();
    assert_eq!(error.kind_bytes(), b"TypeError");
    Ok(())
}

#[test]
fn tensors_that_kernels_do_not_read_stay() -> Result<()> {
    let (machine, seen) = recorder()?;
    let mut changed = *floats()?.dl_tensor();
    let source = floats()?;
    // A tensor of a device, one with strides, and one without elements.
    changed.data = source.dl_tensor().data.wrapping_byte_add(4);
    changed.device.device_type = 2;
    let mut strided = changed;
    let (mut extents, mut strides, mut empty) = ([2i64, 2], [1i64, 2], [0i64, 3]);
    strided.device.device_type = 1;
    (strided.shape, strided.strides) = (extents.as_mut_ptr(), strides.as_mut_ptr());
    let mut none = changed;
    none.device.device_type = 1;
    (none.shape, none.strides) = (empty.as_mut_ptr(), core::ptr::null_mut());
    for tensor in [&strided, &none] {
        machine.call(main_of(&machine), &[pointer(tensor), 0i64.into()])?;
        assert_eq!(seen.lock().unwrap().pop().unwrap().0, tensor.data.addr());
    }
    let (mut shape, mut compact) = ([2i64, 3], [3i64, 1]);
    (changed.shape, changed.strides) = (shape.as_mut_ptr(), compact.as_mut_ptr());
    machine.call(main_of(&machine), &[pointer(&changed), 0i64.into()])?;
    assert_eq!(seen.lock().unwrap().pop().unwrap().0, changed.data.addr());
    Ok(())
}

/// Fills the tensor with ones.
fn overwrite(args: &[AnyView<'_>]) -> Result<Any> {
    let tensor = TensorRef::from_view(&args[0]).expect("a tensor");
    let start = tensor.data_ptr().cast::<u8>().wrapping_add(tensor.byte_offset() as usize);
    // SAFETY: the tensor is that of the test, which nobody else uses.
    unsafe { start.write_bytes(1, tensor.size_bytes().unwrap()) };
    Ok(Any::NONE)
}

#[test]
fn a_function_that_writes_to_its_argument_needs_an_aligned_one() -> Result<()> {
    let main = bytecode("main", &["x", "out"], 3, vec![call(2, 0, &[1]), ret(0)]);
    let machine = Machine::new(load(&executable(&[packed("fill"), main], &[]))?);
    let kernel = Function::from_packed(overwrite)?;
    machine.initialize_on_cpu(Kind::Naive, &|_| Ok(Some(kernel.clone())))?;
    let (x, out) = (floats()?, floats()?);
    machine.call(main_of(&machine), &[AnyView::from(&x), AnyView::from(&out)])?;
    assert_eq!(out.as_slice::<f32>()?, [f32::from_bits(0x0101_0101); 6]);
    let text =
        "The argument out of main must be aligned to 64 bytes, because the function writes to it";
    let unaligned = shifted(&floats()?, Shift::Pointer(8))?;
    let tuple = ArrayObject::from_slice(&[unaligned.clone().into()])?;
    for _ in 0..2 {
        let result =
            machine.call(main_of(&machine), &[AnyView::from(&x), AnyView::from(&unaligned)]);
        assert_eq!(texts(result), ("ValueError".into(), text.into()));
        // An input that is only read may be unaligned, and the machine works after errors.
        let args = [AnyView::from(&unaligned), AnyView::from(&out)];
        assert_eq!(machine.call(main_of(&machine), &args)?.get::<Tensor>()?.shape(), [2, 3]);
        assert!(
            machine.call(main_of(&machine), &[AnyView::from(&tuple), AnyView::from(&out)]).is_ok()
        );
    }
    // A byte offset that leads to an aligned address is a view: the caller sees what is written.
    let view = shifted(&floats()?, Shift::Offset(64))?;
    machine.call(main_of(&machine), &[AnyView::from(&x), AnyView::from(&view)])?;
    assert_eq!(view.as_slice::<f32>()?, [f32::from_bits(0x0101_0101); 6]);
    Ok(())
}

/// The tensor that a kernel keeps borrowed.
#[derive(Clone, Copy)]
enum Kept {
    Copy,
    Original,
}

#[test]
fn copies_are_not_compared_while_others_write_the_elements() -> Result<()> {
    for kept in [Kept::Copy, Kept::Original] {
        let x = shifted(&floats()?, Shift::Pointer(8))?;
        let original = x.clone();
        let kernel = Function::from_packed(move |args| {
            let copy: Tensor = args[0].get()?;
            let tensor = if let Kept::Copy = kept { copy } else { original.clone() };
            // Another thread would have the guard, and write.
            std::mem::forget(tensor.borrow_mut::<f32>()?);
            Ok(Any::NONE)
        })?;
        let main = bytecode("main", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
        let machine = Machine::new(load(&executable(&[packed("keep"), main], &[]))?);
        machine.initialize_on_cpu(Kind::Naive, &|_| Ok(Some(kernel.clone())))?;
        let (kind, text) = texts(machine.call(main_of(&machine), &[AnyView::from(&x)]));
        assert_eq!(kind, "RuntimeError", "{text}");
        assert!(text.contains("in use"), "{text}");
    }
    Ok(())
}

#[test]
fn errors_of_functions_come_first_and_release_the_copies() -> Result<()> {
    let failing = Function::from_packed(|args| {
        overwrite(args)?;
        Err(ferrite_core::error!(KeyError, "no"))
    })?;
    let main = bytecode("main", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
    let machine = Machine::new(load(&executable(&[packed("fill"), main], &[]))?);
    // An allocator of its own, as tests run at the same time.
    let allocator = Allocator::new(DLDevice { device_type: 1, device_id: 77 }, Kind::Naive)?;
    let mut allocators = Buffer::new();
    allocators.try_push(allocator)?;
    machine.initialize(allocators, &|_| Ok(Some(failing.clone())))?;
    let x = shifted(&floats()?, Shift::Pointer(4))?;
    for _ in 0..3 {
        let result = machine.call(main_of(&machine), &[AnyView::from(&x)]);
        assert_eq!(texts(result), ("KeyError".into(), "no".into()));
        assert_eq!((allocator.usage().used, allocator.usage().peak), (0, 24));
    }
    Ok(())
}

#[test]
fn a_kernel_that_is_called_by_name_refuses_what_is_not_aligned() -> Result<()> {
    let main = bytecode("main", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
    let machine = Machine::new(load(&executable(&[packed("fill"), main], &[]))?);
    let kernel = Function::from_packed(overwrite)?;
    machine.initialize_on_cpu(Kind::Naive, &|_| Ok(Some(kernel.clone())))?;
    let fill = machine.executable().find(b"fill").expect("a kernel");
    let (x, unaligned) = (floats()?, shifted(&floats()?, Shift::Pointer(4))?);
    machine.call(fill, &[AnyView::from(&x)])?;
    let text = "The argument #1 of fill is not aligned to 64 bytes, as kernels assume";
    let result = machine.call(fill, &[AnyView::from(&x), AnyView::from(&unaligned)]);
    assert_eq!(texts(result), ("ValueError".into(), text.into()));
    let nested =
        shifted_value(&ArrayObject::from_slice(&[x.clone().into()])?.into(), Shift::Pointer(8))?;
    assert_eq!(texts(machine.call(fill, &[AnyView::from(&x), nested.view()])).1, text);
    Ok(())
}

/// How a model calls the function that returns a tensor.
#[derive(Clone, Copy, Debug)]
enum Caller {
    Bytecode,
    /// Bytecode, through the builtin that calls closures.
    Builtin,
    /// Bytecode, with an instrument around each call.
    Instrumented,
    /// Native code, played by a function of the test.
    Native,
}

const CALLERS: [Caller; 4] =
    [Caller::Bytecode, Caller::Builtin, Caller::Instrumented, Caller::Native];

/// Creates a machine whose `main(give, f)` calls the first function, and passes its result to the
/// second.
fn chain(caller: Caller) -> Result<Machine> {
    let first = match caller {
        Caller::Builtin => call(2, 0, &[MACHINE, 0]),
        _ => call(2, 1, &[0]),
    };
    let mut main = bytecode("main", &["give", "f"], 4, vec![first, call(3, 2, &[1, 2]), ret(2)]);
    if matches!(caller, Caller::Native) {
        (main.kind, main.body) = (2, Vec::new());
    }
    let functions = [packed("vm.builtin.invoke_closure"), packed("first"), packed("second"), main];
    let machine = Machine::new(load(&executable(&functions, &[]))?);
    let first = Function::from_packed(|args| args[0].get::<Function>()?.call_packed(&[]))?;
    let second = Function::from_packed(|args| args[0].get::<Function>()?.call_packed(&args[1..]))?;
    let code = Function::from_packed(native_main)?;
    let resolve = move |name: &[u8]| {
        Ok(Some(match name {
            b"first" => first.clone(),
            b"second" => second.clone(),
            _ => code.clone(),
        }))
    };
    machine.initialize_on_cpu(Kind::Pooled, &resolve)?;
    if matches!(caller, Caller::Instrumented) {
        machine.set_instrument(Some(Function::from_packed(|_| Ok(Any::NONE))?))?;
    }
    Ok(machine)
}

/// Does what TVM's code of `main` does: the arguments are in registers 0 and 1, the result is in
/// register 2.
fn native_main(args: &[AnyView<'_>]) -> Result<Any> {
    let list: *mut c_void = args[1].get()?;
    let mut cells = [TVMFFIAny::NONE; 2];
    let cell = cells.as_mut_ptr();
    // SAFETY: the list is that of the registers, and the cells have an argument and a result.
    unsafe {
        set_packed_arg(list, 0, cell, 0)?;
        let function: Function = AnyView::from_raw(cells[0]).get()?;
        cells[1] = function.call_packed(&[])?.into_raw();
        // Generated code ignores the status.
        let _ = move_from_packed_return(list, 2, cells.as_mut_ptr(), 1);
        set_packed_arg(list, 1, cells.as_mut_ptr(), 0)?;
        set_packed_arg(list, 2, cells.as_mut_ptr(), 1)?;
        AnyView::from_raw(cells[0]).get::<Function>()?.call_packed(&[AnyView::from_raw(cells[1])])
    }
}

/// Returns a function without arguments that returns a value.
fn giver(value: Any) -> Result<Function> {
    Function::from_packed(move |_| Ok(value.clone()))
}

#[test]
fn results_of_functions_that_a_model_calls_are_aligned() -> Result<()> {
    for (caller, shift) in CALLERS.iter().flat_map(|caller| SHIFTS.map(|shift| (*caller, shift))) {
        let (context, machine) = (format!("{caller:?} {shift:?}"), chain(caller)?);
        let seen: Seen = Arc::default();
        let log = seen.clone();
        let second = Function::from_packed(move |args| {
            let parts = args[0].try_get::<ArrayObject>()?;
            let parts = parts.as_ref().map(|parts| parts.as_slice()[1].view());
            record(&log, TensorRef::from_view(&parts.unwrap_or(args[0])).expect("a tensor"));
            Ok(Any::NONE)
        })?;
        let given: Any = shifted(&floats()?, shift)?.into();
        let tuple: Any = ArrayObject::from_slice(&[7i64.into(), given.clone()])?.into();
        for value in [given.clone(), tuple] {
            let give = giver(value)?;
            for _ in 0..2 {
                machine.call(main_of(&machine), &[AnyView::from(&give), AnyView::from(&second)])?;
                expect_aligned(&seen, 1, &context);
            }
        }
        // What the function returned is as it was.
        let unchanged = shifted(&floats()?, shift)?;
        let [now, before] =
            [&given.get::<Tensor>()?, &unchanged].map(|tensor| tensor.dl_tensor().byte_offset);
        assert_eq!(now, before, "{context}");
    }
    Ok(())
}

#[test]
fn aligned_results_and_those_in_storages_are_used_in_place() -> Result<()> {
    for caller in CALLERS {
        let machine = chain(caller)?;
        let place = Arc::new(Mutex::new((0, 0)));
        let log = place.clone();
        let second = Function::from_packed(move |args| {
            let tensor = TensorRef::from_view(&args[0]).expect("a tensor");
            *log.lock().unwrap() = (tensor.data_ptr().addr(), tensor.byte_offset());
            Ok(Any::NONE)
        })?;
        let block = Allocator::new(DLDevice { device_type: 1, device_id: 78 }, Kind::Naive)?
            .allocate(256)?;
        let storage = Storage::new(block)?;
        let (shape, dtype) = (Shape::from_slice(&[2, 3])?, floats()?.dtype());
        let args =
            [AnyView::from(&storage), 16i64.into(), AnyView::from(&shape), AnyView::from(&dtype)];
        let placed = ferrite_relax::builtins::find(b"vm.builtin.alloc_tensor").expect("a builtin");
        for tensor in [floats()?, (placed.body)(&args)?.get::<Tensor>()?] {
            let give = giver(tensor.clone().into())?;
            machine.call(main_of(&machine), &[AnyView::from(&give), AnyView::from(&second)])?;
            let raw = tensor.dl_tensor();
            assert_eq!(*place.lock().unwrap(), (raw.data.addr(), raw.byte_offset), "{caller:?}");
        }
    }
    Ok(())
}

#[test]
fn a_model_that_writes_to_a_result_needs_an_aligned_one() -> Result<()> {
    let text = "A tensor that a function returned to main must be aligned to 64 bytes, because the function writes to it";
    for caller in CALLERS {
        let (machine, fill) = (chain(caller)?, Function::from_packed(overwrite)?);
        let call = |tensor: &Tensor| {
            let give = giver(tensor.clone().into())?;
            machine.call(main_of(&machine), &[AnyView::from(&give), AnyView::from(&fill)])
        };
        let ones = [f32::from_bits(0x0101_0101); 6];
        let aligned = floats()?;
        for _ in 0..2 {
            let result = call(&shifted(&floats()?, Shift::Pointer(4))?);
            assert_eq!(texts(result), ("ValueError".into(), text.into()), "{caller:?}");
            call(&aligned)?;
            assert_eq!(aligned.as_slice::<f32>()?, ones);
        }
        let view = shifted(&floats()?, Shift::Offset(64))?;
        call(&view)?;
        assert_eq!(view.as_slice::<f32>()?, ones);
        // The owner of a result may change it: the model has a copy.
        let (kept, released) = (shifted(&floats()?, Shift::Pointer(8))?, giver(Any::NONE)?);
        let mine = kept.clone();
        let change = Function::from_packed(move |_| overwrite(&[AnyView::from(&mine)]))?;
        let give = giver(kept.into())?;
        machine.call(main_of(&machine), &[AnyView::from(&give), AnyView::from(&change)])?;
        machine.call(main_of(&machine), &[AnyView::from(&give), AnyView::from(&released)])?;
    }
    Ok(())
}

//! Tensors: elements are borrowed at run time, so that an output is never a slice that somebody
//! else has.

use std::sync::mpsc;
use std::thread;

use ferrite::tensor::{Input, Output, TensorView};
use ferrite::{AnyView, Error, ErrorKind, Function, Result, Structural, Tensor};

fn fill(mut out: Output<'_>, value: f32) -> Result<()> {
    out.as_mut_slice::<f32>()?.fill(value);
    Ok(())
}

fn copy(x: Input<'_>, mut out: Output<'_>) -> Result<()> {
    let ([len], x) = x.array::<f32, 1>()?;
    out.elements_mut(&[len])?.copy_from_slice(x);
    Ok(())
}

fn zeros() -> Result<Tensor> {
    Tensor::from_slice(&[0.0f32; 4], &[4])
}

/// Asserts that a call was refused because of a borrow, and returns the message.
fn in_use<T>(outcome: Result<T>) -> String {
    let error: Error = outcome.map(drop).expect_err("a borrow conflicts");
    assert_eq!(error.kind(), ErrorKind::RuntimeError, "{error}");
    error.to_string()
}

#[test]
fn an_output_is_refused_while_the_caller_has_a_slice() -> Result<()> {
    let (out, fill) = (zeros()?, Function::from_typed(fill)?);
    let elements = out.as_slice::<f32>()?;
    let message = in_use(fill.call::<()>((&out, 1.0)));
    assert!(message.contains("Borrowed argument on argument #0"), "{message}");
    assert!(message.ends_with("expected a tensor whose elements nobody else uses"), "{message}");
    assert_eq!(elements, [0.0; 4]);
    drop(elements);
    fill.call::<()>((&out, 1.0))?;
    assert_eq!(out.as_slice::<f32>()?, [1.0; 4]);
    Ok(())
}

#[test]
fn a_view_of_the_argument_is_passed_as_the_object() -> Result<()> {
    let (out, fill) = (zeros()?, Function::from_typed(fill)?);
    let elements = out.as_slice::<f32>()?;
    in_use(fill.call::<()>((TensorView::from(&out), 1.0)));
    in_use(fill.call_packed(&[AnyView::from(TensorView::from(&out)), AnyView::from(1.0)]));
    assert_eq!(elements, [0.0; 4]);
    Ok(())
}

#[test]
fn a_captured_clone_is_refused_while_it_is_an_output() -> Result<()> {
    let out = zeros()?;
    let captured = out.clone();
    let function = Function::from_typed(move |mut out: Output<'_>| -> Result<()> {
        let written = out.as_mut_slice::<f32>()?;
        let message = in_use(captured.as_slice::<f32>());
        assert!(message.contains("in use"), "{message}");
        in_use(captured.borrow_mut::<f32>());
        in_use(TensorView::from(&captured).as_slice::<f32>());
        written.fill(2.0);
        Ok(())
    })?;
    function.call::<()>((&out,))?;
    assert_eq!(out.as_slice::<f32>()?, [2.0; 4]);
    Ok(())
}

#[test]
fn an_output_of_a_running_call_is_refused_to_the_calls_that_it_makes() -> Result<()> {
    let out = zeros()?;
    let (captured, fill) = (out.clone(), Function::from_typed(fill)?);
    let outer = Function::from_typed(move |mut out: Output<'_>| -> Result<()> {
        let written = out.as_mut_slice::<f32>()?;
        in_use(fill.call::<()>((&captured, 1.0)));
        assert_eq!(written, [0.0; 4]);
        Ok(())
    })?;
    outer.call::<()>((&out,))
}

#[test]
fn an_input_is_refused_as_an_output_until_its_call_ends() -> Result<()> {
    let (x, fill) = (zeros()?, Function::from_typed(fill)?);
    let captured = x.clone();
    let outer = Function::from_typed(move |x: Input<'_>| -> Result<f32> {
        let ([_], elements) = x.array::<f32, 1>()?;
        in_use(fill.call::<()>((&captured, 1.0)));
        Ok(elements[0] + captured.as_slice::<f32>()?[0])
    })?;
    assert_eq!(outer.call::<f32>((&x,))?, 0.0);
    x.borrow_mut::<f32>()?[0] = 3.0;
    assert_eq!(x.as_slice::<f32>()?[0], 3.0);
    Ok(())
}

#[test]
fn one_tensor_is_not_two_outputs_or_input_and_output() -> Result<()> {
    let x = zeros()?;
    let both = Function::from_typed(|mut a: Output<'_>, mut b: Output<'_>| -> Result<()> {
        let (a, b) = (a.as_mut_slice::<f32>()?, b.as_mut_slice::<f32>()?);
        a[0] = b[0];
        Ok(())
    })?;
    assert_eq!(both.call::<()>((&x, &x)).unwrap_err().kind(), ErrorKind::ValueError);
    let copy = Function::from_typed(copy)?;
    assert_eq!(copy.call::<()>((&x, &x)).unwrap_err().kind(), ErrorKind::ValueError);
    let back = Function::from_typed(|out: Output<'_>, x: Input<'_>| copy_back(x, out))?;
    assert_eq!(back.call::<()>((&x, &x)).unwrap_err().kind(), ErrorKind::ValueError);
    // Nothing is left borrowed.
    x.borrow_mut::<f32>()?.fill(1.0);
    Ok(())
}

fn copy_back(x: Input<'_>, out: Output<'_>) -> Result<()> {
    copy(x, out)
}

#[test]
fn errors_and_panics_end_the_borrows() -> Result<()> {
    let x = zeros()?;
    let fails = Function::from_typed(|_: Output<'_>, wrong: i64| -> Result<()> {
        assert_ne!(wrong, 1);
        ferrite::bail!(ValueError, "wrong")
    })?;
    for (argument, kind) in [
        (AnyView::from(1), ErrorKind::InternalError), // panics
        (AnyView::from(2), ErrorKind::ValueError),    // fails
        (AnyView::NONE, ErrorKind::TypeError),        // does not convert
    ] {
        let outcome = fails.call_packed(&[(&x).into(), argument]);
        assert_eq!(outcome.map(drop).unwrap_err().kind(), kind);
        drop(x.borrow_mut::<f32>()?);
    }
    // The second argument of this call is in use: the first one is given back.
    let (out, copy) = (zeros()?, Function::from_typed(copy)?);
    let writes = x.borrow_mut::<f32>()?;
    in_use(copy.call::<()>((&x, &out)));
    drop(out.borrow_mut::<f32>()?);
    drop(writes);
    copy.call::<()>((&x, &out))
}

#[test]
fn another_thread_does_not_read_what_is_written() -> Result<()> {
    let out = zeros()?;
    let (started, has_started) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let ends = std::sync::Mutex::new(ends);
    let slow = Function::from_typed(move |mut out: Output<'_>| -> Result<()> {
        let elements = out.as_mut_slice::<f32>()?;
        started.send(()).unwrap();
        elements.fill(5.0);
        ends.lock().unwrap().recv().unwrap();
        elements.fill(6.0);
        Ok(())
    })?;
    thread::scope(|scope| {
        let writer = scope.spawn(|| slow.call::<()>((&out,)));
        has_started.recv().unwrap();
        let read = out.as_slice::<f32>().map(drop);
        end.send(()).unwrap();
        in_use(read);
        writer.join().unwrap()
    })?;
    assert_eq!(out.as_slice::<f32>()?, [6.0; 4]);
    Ok(())
}

#[test]
fn threads_write_one_tensor_in_turn() -> Result<()> {
    let out = zeros()?;
    let rounds = if cfg!(miri) { 20 } else { 2_000 };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    match out.borrow_mut::<f32>() {
                        Ok(mut elements) => elements.iter_mut().for_each(|element| *element += 1.0),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::RuntimeError),
                    }
                    if let Ok(elements) = out.as_slice::<f32>() {
                        assert!(elements.iter().all(|element| *element == elements[0]));
                    }
                }
            });
        }
    });
    drop(out.borrow_mut::<f32>()?);
    Ok(())
}

#[test]
fn guards_may_be_leaked() -> Result<()> {
    let x = zeros()?;
    std::mem::forget(x.as_slice::<f32>()?);
    in_use(x.borrow_mut::<f32>());
    assert_eq!(x.as_slice::<f32>()?, [0.0; 4]);
    Ok(())
}

#[test]
fn a_vector_of_the_program_is_borrowed_as_its_tensor() -> Result<()> {
    let x = Tensor::from_vec(vec![1.0f32, 2.0], &[2])?;
    let elements = x.as_slice::<f32>()?;
    in_use(Function::from_typed(fill)?.call::<()>((&x, 1.0)));
    assert_eq!(elements, [1.0, 2.0]);
    Ok(())
}

#[test]
fn hashing_and_comparing_read_the_elements() -> Result<()> {
    let (x, y) = (zeros()?, zeros()?);
    assert_eq!(x.structural_hash()?, y.structural_hash()?);
    assert!(x.structural_equal(&y)?);
    let _elements = x.borrow_mut::<f32>()?;
    in_use(x.structural_hash());
    in_use(x.structural_equal(&y));
    Ok(())
}

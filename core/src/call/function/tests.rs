use super::*;
use crate::value::string::String;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

#[test]
fn closures_are_called_and_dropped() -> Result<()> {
    let alive = Arc::new(());
    let held = alive.clone();
    let count =
        Function::from_packed(move |args| Ok((args.len() + Arc::strong_count(&held)).into()))?;
    assert_eq!(count.call_packed(&[1i64.into(), true.into()])?.get::<i64>()?, 4);
    drop(count);
    assert_eq!(Arc::strong_count(&alive), 1);
    Ok(())
}

#[test]
fn typed_closures_check_their_arguments() -> Result<()> {
    let greet =
        Function::from_typed(|name: String, n: i64| String::format(format_args!("{name} {n}")))?;
    let name = String::new("ferrite")?;
    assert_eq!(greet.call_packed(&[(&name).into(), 2i64.into()])?.get::<String>()?, "ferrite 2");
    let error = greet.call_packed(&[1i64.into(), 2i64.into()]).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Mismatched type on argument #0 when calling: `(0: str, 1: int) -> str`. Expected `str` but got `int`"
    );
    let error = greet.call_packed(&[]).unwrap_err();
    assert_eq!(error.kind_bytes(), b"TypeError");
    assert_eq!(
        error.message_bytes(),
        b"Mismatched number of arguments when calling: `(0: str, 1: int) -> str`. Expected 2 but got 0 arguments"
    );
    Ok(())
}

#[test]
fn c_callbacks_get_their_context_and_deleter() -> Result<()> {
    unsafe extern "C" fn add(
        context: *mut c_void,
        _: *const TVMFFIAny,
        n: i32,
        result: *mut TVMFFIAny,
    ) -> c_int {
        // SAFETY: the test passes an AtomicUsize and a valid result.
        unsafe {
            let calls = &*context.cast::<AtomicUsize>();
            calls.fetch_add(n as usize, Ordering::Relaxed);
            result.write(Any::from(7i64).into_raw());
        }
        0
    }
    unsafe extern "C" fn deleter(context: *mut c_void) {
        // SAFETY: as above.
        unsafe { (*context.cast::<AtomicUsize>()).fetch_add(100, Ordering::Relaxed) };
    }
    let calls = AtomicUsize::new(0);
    // SAFETY: the context outlives the function.
    let function = unsafe {
        Function::from_extern_c((&raw const calls).cast_mut().cast(), add, Some(deleter))?
    };
    assert_eq!(function.call_packed(&[AnyView::NONE, AnyView::NONE])?.get::<i64>()?, 7);
    drop(function);
    assert_eq!(calls.load(Ordering::Relaxed), 102);
    Ok(())
}

#[cfg(not(feature = "client"))]
#[test]
#[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
fn functions_of_one_callback_are_the_same() -> Result<()> {
    unsafe extern "C" fn nothing(
        _: *mut c_void,
        _: *const TVMFFIAny,
        _: i32,
        _: *mut TVMFFIAny,
    ) -> c_int {
        0
    }
    // A function may have several addresses; a static has one.
    static NOTHING: TVMFFISafeCallType = nothing;
    // SAFETY: the callback ignores its arguments.
    let make = |context: usize| unsafe {
        Function::from_extern_c(ptr::without_provenance_mut(context), NOTHING, None)
    };
    let (one, same, other) = (make(8)?, make(8)?, make(16)?);
    assert!(one.same_callback(&same) && one.same_callback(&one.clone()));
    assert!(!one.same_callback(&other));
    assert!(!one.same_callback(&Function::from_packed(|_| Ok(Any::NONE))?));
    // Runs unsynchronised with the reference counts of another thread.
    std::thread::scope(|threads| {
        threads.spawn(|| drop(one.clone()));
        assert!(one.same_callback(&same));
    });
    Ok(())
}

#[test]
fn bad_calls_from_c_are_errors() -> Result<()> {
    let function = Function::from_packed(|_| Ok(Any::NONE))?;
    let handle = function.as_object().as_ptr().cast();
    let safe_call = function.safe_call()?;
    let mut result: TVMFFIAny = *AnyView::NONE.as_raw();
    for (args, count, out) in [
        (ptr::null(), 1, &raw mut result),
        (ptr::null(), -1, &raw mut result),
        (ptr::null(), 0, ptr::null_mut()),
    ] {
        // SAFETY: the function must refuse these bad arguments.
        assert_eq!(unsafe { safe_call(handle, args, count, out) }, -1);
        assert_eq!(take_raised().kind_bytes(), b"ValueError");
    }
    Ok(())
}

#[cfg(feature = "std")]
#[test]
fn panics_become_errors() -> Result<()> {
    let function = Function::from_packed(|_| std::panic!("on purpose"))?;
    let error = function.call_packed(&[]).unwrap_err();
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (&b"InternalError"[..], &b"panic: on purpose"[..])
    );
    Ok(())
}

use super::*;
use crate::object::ObjectClass;

#[test]
fn an_error_carries_its_parts() {
    let cause = error!(ValueError, "inner");
    let error = error!(TypeError, "expected {} but got {}", "int", 5)
        .with_cause_and_context(Some(cause), None);
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (&b"TypeError"[..], &b"expected int but got 5"[..])
    );
    assert_eq!(error.cause().map(|cause| cause.message_bytes() == b"inner"), Some(true));
    assert!(error.extra_context().is_none());
}

#[cfg(feature = "std")]
#[test]
fn backtraces_are_replaced_and_appended() {
    let error = Error::from_bytes(b"K", b"m", b"one\n");
    // SAFETY: here and below, the error is not shared.
    unsafe { error.set_backtrace(b"two\n", true) };
    error.with_backtrace(|text| assert_eq!(text, b"one\ntwo\n"));
    // SAFETY: as above.
    unsafe { error.set_backtrace(b"three\n", false) };
    error.with_backtrace(|text| assert_eq!(text, b"three\n"));
}

#[test]
fn the_last_resort_survives_its_users() {
    for _ in 0..3 {
        let error = static_error::out_of_memory();
        // SAFETY: the update of this error changes nothing.
        unsafe { error.set_backtrace(b"ignored", false) };
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"MemoryError"[..], &b"Out of memory"[..])
        );
    }
}

#[test]
fn the_context_of_an_error_is_replaced() {
    let context_of =
        |error: &Error| error.extra_context().and_then(|context| context.downcast::<Error>().ok());
    let mut error =
        error!(ValueError, "outer").with_cause_and_context(Some(error!(TypeError, "cause")), None);
    let other_holder = error.clone();
    for text in ["first", "second"] {
        error.set_extra_context(error!(ValueError, "{text}").into_object());
        let context = context_of(&error);
        assert_eq!(context.map(|context| context.message_bytes() == text.as_bytes()), Some(true));
    }
    assert!(context_of(&other_holder).is_none(), "a shared error is copied");
    assert_eq!(error.kind_bytes(), other_holder.kind_bytes());
    assert_eq!(error.message_bytes(), other_holder.message_bytes());
    assert_eq!(error.cause().map(|cause| cause.message_bytes() == b"cause"), Some(true));
    let address = error.as_object().as_ptr();
    error.set_extra_context(other_holder.into_object());
    assert_eq!(error.as_object().as_ptr(), address, "an error with one reference is changed");
    let mut last_resort = static_error::out_of_memory();
    last_resort.set_extra_context(error.into_object());
    assert!(last_resort.extra_context().is_none());
}

#[test]
#[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
fn an_error_is_the_cause_of_two_at_once() {
    let cause = error!(ValueError, "cause");
    let make = || Error::with_causes(b"K", b"m", b"", Some(&cause), None);
    std::thread::scope(|threads| {
        let other = threads.spawn(make);
        for error in [make(), other.join().unwrap()] {
            assert!(error.unwrap().cause().unwrap().as_object().ptr_eq(cause.as_object()));
        }
    });
}

#[test]
fn a_long_cause_chain_is_released_without_recursion() {
    let mut error = error!(ValueError, "first");
    for _ in 0..if cfg!(feature = "std") && !cfg!(miri) { 300_000 } else { 100 } {
        error = error!(ValueError, "next").with_cause_and_context(Some(error), None);
    }
    drop(error);
}

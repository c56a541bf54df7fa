use core::ffi::c_void;
use core::ptr;

use super::*;
use crate::abi::TVMFFIAny;
use crate::call::function::invoke_safe_call;
use crate::value::any::AnyView;

/// A C function whose handle says what it does: status, plus 1000 if it raises a KeyError first.
unsafe extern "C" fn fail(
    handle: *mut c_void,
    _: *const TVMFFIAny,
    _: i32,
    _: *mut TVMFFIAny,
) -> c_int {
    let number = handle.addr().cast_signed() as c_int;
    if number < 500 {
        return number;
    }
    raised_error::set(plain_error!(KEY_ERROR, "new"));
    number - 1000
}

fn failed(status: c_int, raises: bool) -> Error {
    let number = if raises { status + 1000 } else { status };
    let handle = ptr::without_provenance_mut(number as isize as usize);
    // SAFETY: the function takes any handle and no arguments.
    unsafe { invoke_safe_call(fail, handle, &[] as &[AnyView<'_>]) }.unwrap_err()
}

fn leave_an_error() {
    raised_error::set(plain_error!(VALUE_ERROR, "earlier"));
}

#[test]
fn a_silent_failure_names_its_status() {
    for status in [-7, -1, 1] {
        let error = failed(status, false);
        assert_eq!(error.kind_bytes(), b"InternalError");
        if !crate::error::message::SHORT {
            let text =
                std::format!("A C function returned status {status} without raising an error");
            assert_eq!(error.message_bytes(), text.as_bytes());
        }
    }
}

#[test]
fn an_earlier_error_is_not_reported_for_another_status_than_minus_one() {
    leave_an_error();
    let error = failed(-7, false);
    assert_eq!(error.kind_bytes(), b"InternalError");
    assert!(raised_error::take().is_none());
}

#[cfg(all(feature = "std", not(feature = "client")))]
#[test]
fn an_earlier_error_is_never_reported_on_hosts() {
    for status in [-1, -7, 1] {
        leave_an_error();
        let error = failed(status, false);
        assert_eq!(
            (error.kind_bytes(), error.cause().is_none()),
            (&b"InternalError"[..], true),
            "{status}"
        );
        leave_an_error();
        assert_eq!(checked(|| status).unwrap_err().kind_bytes(), b"InternalError", "{status}");
        // Errors that other threads raise during the call are theirs.
        leave_an_error();
        let others = || {
            std::thread::spawn(leave_an_error).join().unwrap();
            status
        };
        assert_eq!(checked(others).unwrap_err().kind_bytes(), b"InternalError", "{status}");
        assert!(raised_error::take().is_none());
    }
}

#[cfg(all(feature = "std", not(feature = "client")))]
#[test]
fn a_raised_error_is_reported_with_any_status() {
    for status in [-1, -2, -7, 1] {
        leave_an_error();
        assert_eq!(failed(status, true).message_bytes(), b"new", "{status}");
        let again = checked(|| {
            leave_an_error();
            raised_error::set_again(raised_error::take().unwrap());
            status
        });
        assert_eq!(again.unwrap_err().message_bytes(), b"earlier", "{status}");
    }
}

#[test]
fn the_cause_of_an_unmarked_failure_is_what_was_raised() {
    leave_an_error();
    assert_eq!(failure_unmarked(RAISED).message_bytes(), b"earlier");
    assert_eq!(failure_unmarked(RAISED).kind_bytes(), b"InternalError");
    leave_an_error();
    let error = failure_unmarked(3);
    assert_eq!(error.kind_bytes(), b"InternalError");
    let has_cause = error.cause().map(|cause| cause.message_bytes() == b"earlier");
    assert_eq!(has_cause, if SHORT { None } else { Some(true) });
}

#[cfg(feature = "std")]
#[test]
fn minus_two_is_an_error_of_the_host_language() {
    leave_an_error();
    assert_eq!(failed(ERROR_ALREADY_SET, false).kind_bytes(), b"EnvErrorAlreadySet");
}

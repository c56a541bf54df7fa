//! Objects passed from C while other threads change their counts: the library must not access the
//! counted words of such objects non-atomically.

use core::ptr;
use std::thread;

use ferrite_core::object::ObjectClass;
use ferrite_core::{Error, ObjectRef, Tensor};

use crate::error::{TVMFFIErrorMoveFromRaised, TVMFFIErrorSetRaised};
use crate::object::{TVMFFIObjectDecRef, TVMFFIObjectIncRef};
use crate::tensor::TVMFFITensorToDLPack;

/// Runs `body` while another thread retains and releases the object, unsynchronised.
fn while_counted(object: &ObjectRef, body: impl FnOnce()) {
    let other = object.clone();
    let thread = thread::spawn(move || {
        let handle = other.as_ptr().cast();
        // SAFETY: the object is alive.
        let status = unsafe { (TVMFFIObjectIncRef(handle), TVMFFIObjectDecRef(handle)) };
        assert_eq!(status, (0, 0));
    });
    body();
    thread.join().expect("no panic");
}

#[test]
fn a_tensor_is_exported_while_others_count_it() {
    let tensor = Tensor::from_slice(&[1i32, 2], &[2]).expect("memory");
    while_counted(tensor.as_object(), || {
        let mut out = ptr::null_mut();
        // SAFETY: the tensor is alive; the export has a deleter.
        unsafe {
            assert_eq!(TVMFFITensorToDLPack(tensor.as_object().as_ptr().cast(), &mut out), 0);
            (*out).deleter.expect("a deleter")(out);
        }
    });
}

#[test]
fn an_error_is_raised_while_others_count_it() {
    let error = Error::from_bytes(b"ValueError", b"no", b"");
    while_counted(error.as_object(), || {
        let mut out = ptr::null_mut();
        // SAFETY: the error is alive; the returned reference is released.
        unsafe {
            TVMFFIErrorSetRaised(error.as_object().as_ptr().cast());
            TVMFFIErrorMoveFromRaised(&mut out);
            assert_eq!(TVMFFIObjectDecRef(out), 0);
        }
    });
}

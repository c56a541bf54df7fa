//! Tensors from the environment's allocator.
#![allow(missing_docs, reason = "each test's name says it")]
#![allow(clippy::expect_used, reason = "helpers of tests")]
#![allow(unsafe_code, reason = "an allocator is set, and its function has the C signature")]

use std::ffi::{c_char, c_int, c_void};

use ferrite::abi::{DLDevice, DLManagedTensorVersioned, DLTensor};
use ferrite::env::{tensor, tensor_alloc};
use ferrite::{ErrorKind, Result, Tensor};

type SetError = Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char)>;

unsafe extern "C" fn refuse(
    prototype: *mut DLTensor,
    _: *mut *mut DLManagedTensorVersioned,
    context: *mut c_void,
    set_error: SetError,
) -> c_int {
    // SAFETY: the library passes a prototype with its extents, and an error callback.
    unsafe {
        let extents = std::slice::from_raw_parts((*prototype).shape, (*prototype).ndim as usize);
        assert_eq!((extents, (*prototype).device.device_type), (&[2, 3][..], 1));
        set_error.expect("the library passes it")(
            context,
            c"ValueError".as_ptr(),
            c"refused".as_ptr(),
        );
    }
    -1
}

#[test]
fn the_allocator_of_the_environment_is_asked_first() -> Result<()> {
    let like = Tensor::from_slice(&[1i32, 2, 3, 4, 5, 6], &[2, 3])?;
    // SAFETY: the function is there as long as the process.
    let earlier = unsafe { tensor_alloc::set(Some(refuse), false) };
    let error = tensor::empty_like(&like).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::ValueError, "refused"));
    // SAFETY: the earlier allocator, none.
    unsafe { tensor_alloc::set(earlier, false) };
    let tensor = tensor::empty_like(&like)?;
    assert_eq!((tensor.shape(), tensor.dtype()), (like.shape(), like.dtype()));
    Ok(())
}

#[test]
fn what_nobody_can_allocate_is_an_error() -> Result<()> {
    let like = Tensor::from_slice(&[1i32], &[1])?;
    assert_eq!(
        tensor::empty(&[-1], like.dtype(), like.device()).unwrap_err().kind(),
        ErrorKind::ValueError
    );
    let device = DLDevice { device_type: 15, device_id: 0 };
    assert_eq!(
        tensor::empty(&[1], like.dtype(), device).unwrap_err().kind(),
        ErrorKind::RuntimeError
    );
    Ok(())
}

//! Tensors from the allocator that the environment, such as a framework, has set.

use core::ffi::{CStr, c_char, c_void};
use core::mem;
use core::ptr;

use ferrite_core::abi::{DLManagedTensorVersioned, DLPackManagedTensorAllocator, DLTensor};
use ferrite_core::error::{Error, Result, Site, kind};
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::sync::per_thread;
use ferrite_core::tensor::{Tensor, check_shape};
use ferrite_core::{function, plain_bail, plain_ensure, raised_error};

ferrite_core::per_thread!(
    /// The allocator of this thread, before the global one.
    static ALLOCATOR: DLPackManagedTensorAllocator = None
);

/// The allocator of threads that have set none, as an address; null for none.
static GLOBAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets the allocator of this thread, and with `write_to_global` that of threads without one too. None
/// unsets.
///
/// Gives the allocator that this thread had set before; the global one does not count. On boards all threads share one.
///
/// # Safety
/// The allocator must keep the contract of its type, and stay callable while it is set.
///
/// # Upstream
/// `TVMFFIEnvSetDLPackManagedTensorAllocator`.
pub unsafe fn set(
    allocator: DLPackManagedTensorAllocator,
    write_to_global: bool,
) -> DLPackManagedTensorAllocator {
    // An address has no destructor, so that it is there as long as its thread.
    let original = per_thread::with(&ALLOCATOR, |present| mem::replace(present, allocator)).flatten();
    if write_to_global {
        let address = allocator.map_or(ptr::null_mut(), |allocator| allocator as *mut c_void);
        GLOBAL.store(address, Ordering::Release);
    }
    original
}

/// The allocator that [`allocate`] uses on this thread: its own, otherwise the global one.
///
/// # Upstream
/// `TVMFFIEnvGetDLPackManagedTensorAllocator`.
pub fn get() -> DLPackManagedTensorAllocator {
    let own = per_thread::with(&ALLOCATOR, |allocator| *allocator).flatten();
    // SAFETY: the address is null, which is None, or that of an allocator, which `set` stored.
    own.or_else(|| unsafe {
        mem::transmute::<*mut c_void, DLPackManagedTensorAllocator>(GLOBAL.load(Ordering::Acquire))
    })
}

/// A function that makes a tensor like a prototype, or gives None for a device that it does not serve.
pub type DefaultAllocator = unsafe fn(prototype: &DLTensor) -> Option<Result<Tensor>>;

/// The allocator that serves where none is set, as an address; null for none.
static DEFAULT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Makes `allocator` serve where none is set.
pub fn install_default(allocator: DefaultAllocator) {
    DEFAULT.store(allocator as *mut c_void, Ordering::Release);
}

/// The tensor that the default allocator makes, if there is one and it serves the device.
///
/// # Safety
/// The prototype must be valid.
unsafe fn allocate_by_default(prototype: *const DLTensor) -> Option<Result<Tensor>> {
    let address = DEFAULT.load(Ordering::Acquire);
    // SAFETY: the address is null, which is None, or that of a function, which `install_default` stored; the caller vouches for
    // the prototype.
    unsafe { mem::transmute::<*mut c_void, Option<DefaultAllocator>>(address)?(&*prototype) }
}

/// Makes a tensor like a prototype, of which only dtype, ndim, shape and device count. Without an allocator, devices that have
/// a back end in [`device`](crate::device) allocate it.
///
/// # Errors
/// ValueError for a broken shape; RuntimeError when no allocator is set or it gives nothing, what the allocator reports, and
/// those of [`Tensor::from_dlpack_versioned`] for what it gives. What it gave is released then.
///
/// # Safety
/// The prototype must be valid for the call.
///
/// # Upstream
/// `TVMFFIEnvTensorAlloc`.
pub unsafe fn allocate(prototype: *mut DLTensor) -> Result<Tensor> {
    let Some(allocator) = get() else {
        // SAFETY: the caller vouches for the prototype.
        if let Some(made) = unsafe { allocate_by_default(prototype) } {
            return made;
        }
        plain_bail!(
            RUNTIME_ERROR,
            "TVMFFIEnvTensorAlloc: allocator is nullptr, likely because TVMFFIEnvSetDLPackManagedTensorAllocator has \
             not been called."
        );
    };
    // SAFETY: the caller vouches for the prototype. Allocators trust what they are given, so it is checked here.
    unsafe { check_shape(&*prototype)? };
    let mut managed: *mut DLManagedTensorVersioned = ptr::null_mut();
    // SAFETY: whoever set the allocator vouches for it, the caller for the prototype; no lock is held.
    let status = unsafe { allocator(prototype, &mut managed, ptr::null_mut(), Some(set_error)) };
    function::check_status(status)?;
    plain_ensure!(
        !managed.is_null(),
        RUNTIME_ERROR,
        "Check failed: (dlpack_tensor != nullptr) is false: \
         TVMFFIEnvTensorAlloc: failed to allocate a tensor from the allocator"
    );
    // SAFETY: a tensor that the allocator gave is the caller's, valid until its deleter is called (contract
    // of its type).
    unsafe { Tensor::from_dlpack_versioned(managed, 0, false) }.inspect_err(|_| {
        // SAFETY: as above; on failure the tensor is still ours.
        unsafe {
            if let Some(deleter) = (*managed).deleter {
                deleter(managed);
            }
        }
    })
}

/// How an allocator reports an error, which gets the backtrace of its call. A null kind is RuntimeError, a null message is
/// empty.
unsafe extern "C" fn set_error(_: *mut c_void, kind: *const c_char, message: *const c_char) {
    // SAFETY: the allocator gives C strings, valid for the call (contract of its type), or null.
    let text = |text: *const c_char| unsafe { (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes()) };
    let kind = text(kind).unwrap_or(kind::RUNTIME_ERROR.as_bytes());
    let message = text(message).unwrap_or_default();
    raised_error::set(Error::from_parts(Site::UNKNOWN, kind, &|out| out.put(message)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_int;
    use core::sync::atomic::AtomicUsize;
    use ferrite_core::abi::{DLDataType, DLDevice, DLPackVersion};
    use std::boxed::Box;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::vec::Vec;

    /// The global allocator is one for all tests.
    fn one_at_a_time() -> MutexGuard<'static, ()> {
        static ORDER: Mutex<()> = Mutex::new(());
        ORDER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    static RELEASED: AtomicUsize = AtomicUsize::new(0);

    /// A managed tensor with its storage.
    struct Managed {
        record: DLManagedTensorVersioned,
        shape: Vec<i64>,
        data: Vec<f32>,
    }

    unsafe extern "C" fn release(managed: *mut DLManagedTensorVersioned) {
        RELEASED.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the context is the box that `make` leaked.
        drop(unsafe { Box::from_raw((*managed).manager_ctx.cast::<Managed>()) });
    }

    fn make(prototype: &DLTensor, major: u32) -> *mut DLManagedTensorVersioned {
        // SAFETY: prototypes of these tests have a shape.
        let shape = unsafe { core::slice::from_raw_parts(prototype.shape, prototype.ndim as usize) }.to_vec();
        let data = std::vec![0f32; shape.iter().product::<i64>() as usize];
        let record = DLManagedTensorVersioned {
            version: DLPackVersion { major, minor: 0 },
            manager_ctx: ptr::null_mut(),
            deleter: Some(release),
            flags: 0,
            dl_tensor: DLTensor { strides: ptr::null_mut(), byte_offset: 0, ..*prototype },
        };
        let managed = Box::into_raw(Box::new(Managed { record, shape, data }));
        // SAFETY: the box was just leaked.
        unsafe {
            (*managed).record.manager_ctx = managed.cast();
            (*managed).record.dl_tensor.shape = (*managed).shape.as_mut_ptr();
            (*managed).record.dl_tensor.data = (*managed).data.as_mut_ptr().cast();
            &raw mut (*managed).record
        }
    }

    type SetError = Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char)>;

    unsafe extern "C" fn good(
        prototype: *mut DLTensor,
        out: *mut *mut DLManagedTensorVersioned,
        _: *mut c_void,
        _: SetError,
    ) -> c_int {
        // SAFETY: the library passes a prototype and a valid out-pointer.
        unsafe { out.write(make(&*prototype, 1)) };
        0
    }

    unsafe extern "C" fn wrong_version(
        prototype: *mut DLTensor,
        out: *mut *mut DLManagedTensorVersioned,
        _: *mut c_void,
        _: SetError,
    ) -> c_int {
        // SAFETY: the library passes a prototype and a valid out-pointer.
        unsafe { out.write(make(&*prototype, 77)) };
        0
    }

    unsafe extern "C" fn failing(
        _: *mut DLTensor,
        _: *mut *mut DLManagedTensorVersioned,
        context: *mut c_void,
        set_error: SetError,
    ) -> c_int {
        // SAFETY: the library passes a function for errors.
        unsafe { set_error.unwrap()(context, c"ValueError".as_ptr(), c"no room".as_ptr()) };
        -1
    }

    unsafe extern "C" fn nothing(
        _: *mut DLTensor,
        _: *mut *mut DLManagedTensorVersioned,
        _: *mut c_void,
        _: SetError,
    ) -> c_int {
        0
    }

    fn allocate_with(allocator: DLPackManagedTensorAllocator) -> Result<Tensor> {
        let mut shape = [2i64, 3];
        let mut prototype = DLTensor {
            data: ptr::null_mut(),
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: 2,
            dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
            shape: shape.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        // SAFETY: the allocators of these tests keep the contract; the prototype is valid.
        unsafe {
            set(allocator, false);
            let made = allocate(&mut prototype);
            set(None, false);
            made
        }
    }

    #[test]
    fn the_allocator_makes_the_tensor() -> Result<()> {
        let _order = one_at_a_time();
        let before = RELEASED.load(Ordering::SeqCst);
        let tensor = allocate_with(Some(good))?;
        assert_eq!((tensor.shape(), tensor.strides()), (&[2, 3][..], Some(&[3, 1][..])));
        drop(tensor);
        assert_eq!(RELEASED.load(Ordering::SeqCst), before + 1);
        Ok(())
    }

    #[test]
    fn failures_are_told_apart() {
        let _order = one_at_a_time();
        let error = allocate_with(None).unwrap_err();
        assert_eq!(
            error.message(),
            b"TVMFFIEnvTensorAlloc: allocator is nullptr, likely because \
              TVMFFIEnvSetDLPackManagedTensorAllocator has not been called."
        );
        let error = allocate_with(Some(failing)).unwrap_err();
        assert_eq!((error.kind(), error.message()), (&b"ValueError"[..], &b"no room"[..]));
        let error = allocate_with(Some(nothing)).unwrap_err();
        assert!(
            error
                .message()
                .ends_with(b"TVMFFIEnvTensorAlloc: failed to allocate a tensor from the allocator")
        );
        let before = RELEASED.load(Ordering::SeqCst);
        assert_eq!(allocate_with(Some(wrong_version)).unwrap_err().kind(), b"RuntimeError");
        assert_eq!(RELEASED.load(Ordering::SeqCst), before + 1);
    }

    #[test]
    #[cfg(feature = "std")]
    fn a_thread_without_allocator_uses_the_global_one() {
        let _order = one_at_a_time();
        let is_set = || get().is_some();
        // SAFETY: the allocator keeps the contract.
        unsafe {
            assert!(set(Some(good), true).is_none());
            assert_eq!(std::thread::spawn(is_set).join().ok(), Some(true));
            assert!(set(None, false).is_some());
            assert!(is_set());
            assert!(set(None, true).is_none());
            assert!(!is_set());
        }
        assert_eq!(std::thread::spawn(is_set).join().ok(), Some(false));
    }
}

//! Tensor allocation through the environment's allocator, which a framework such as PyTorch
//! installs.

use core::ffi::{CStr, c_char, c_void};
use core::mem;
use core::ptr;

use ferrite_core::abi::{DLManagedTensorVersioned, DLPackManagedTensorAllocator, DLTensor};
use ferrite_core::call::function;
use ferrite_core::error::{Error, Result, Site, kind, raised_error};
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::platform::sync::{is_single_threaded, per_thread};
use ferrite_core::tensor::{Tensor, check_shape};
use ferrite_core::{plain_bail, plain_ensure};

ferrite_core::per_thread!(
    /// Allocator of this thread. Takes precedence over the global one.
    static ALLOCATOR: DLPackManagedTensorAllocator = None
);

/// Address of the thread's own allocator in a single-threaded process, which is read without a
/// thread-local lookup. Every call of [`set`] writes it: a process counts as multi-threaded until
/// the library has found glibc's flag. It is never read after a second thread has started.
static SINGLE_THREAD: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Address of the global allocator, for threads without their own; null if there is none.
static GLOBAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets the allocator of this thread and, with `write_to_global`, also the global allocator, for
/// threads without their own. `None` removes it.
///
/// Returns the previous allocator of this thread, not the previous global one. On bare metal, all
/// threads share one.
///
/// # Safety
/// The allocator must fulfil the contract of its type, and stay callable while it is set.
///
/// # Upstream
/// `TVMFFIEnvSetDLPackManagedTensorAllocator`.
pub unsafe fn set(
    allocator: DLPackManagedTensorAllocator,
    write_to_global: bool,
) -> DLPackManagedTensorAllocator {
    // A function address has no destructor, so the thread-local is valid as long as its thread.
    let original =
        per_thread::with(&ALLOCATOR, |present| mem::replace(present, allocator)).flatten();
    let address = allocator.map_or(ptr::null_mut(), |allocator| allocator as *mut c_void);
    SINGLE_THREAD.store(address, Ordering::Relaxed);
    if write_to_global {
        GLOBAL.store(address, Ordering::Release);
    }
    original
}

/// Returns the allocator that [`allocate`] uses on this thread: its own, or else the global one.
///
/// # Upstream
/// `TVMFFIEnvGetDLPackManagedTensorAllocator`.
pub fn get() -> DLPackManagedTensorAllocator {
    let own = if is_single_threaded() {
        at(&SINGLE_THREAD)
    } else {
        per_thread::with(&ALLOCATOR, |allocator| *allocator).flatten()
    };
    own.or_else(|| at(&GLOBAL))
}

/// Returns the allocator at an address that [`set`] has stored.
fn at(address: &AtomicPtr<c_void>) -> DLPackManagedTensorAllocator {
    // SAFETY: the address is null, which is `None`, or that of an allocator from `set`.
    unsafe {
        mem::transmute::<*mut c_void, DLPackManagedTensorAllocator>(address.load(Ordering::Acquire))
    }
}

/// Function that creates a tensor like a prototype, or returns `None` for a device that it does not
/// support.
pub type DefaultAllocator = unsafe fn(prototype: &DLTensor) -> Option<Result<Tensor>>;

/// Address of the fallback allocator, for when no allocator is set; null if there is none.
static DEFAULT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Installs the fallback allocator, used when no allocator is set.
pub fn install_default(allocator: DefaultAllocator) {
    DEFAULT.store(allocator as *mut c_void, Ordering::Release);
}

/// Creates a tensor with the fallback allocator; `None` if there is none or it does not support the
/// device.
///
/// # Safety
/// The prototype must be valid.
unsafe fn allocate_by_default(prototype: *const DLTensor) -> Option<Result<Tensor>> {
    let address = DEFAULT.load(Ordering::Acquire);
    // SAFETY: the address is null, which is `None`, or that of a function from `install_default`;
    // the caller guarantees the prototype.
    unsafe { mem::transmute::<*mut c_void, Option<DefaultAllocator>>(address)?(&*prototype) }
}

/// Creates a tensor with the dtype, ndim, shape and device of a prototype. If no allocator is set,
/// a [`device`](crate::device) back end allocates it.
///
/// # Errors
/// ValueError for an invalid shape; RuntimeError if no allocator is set or it returns null; errors
/// raised by the allocator; errors of [`Tensor::from_dlpack_versioned`], after which the
/// allocator's tensor is released.
///
/// # Safety
/// The prototype must be valid during the call.
///
/// # Upstream
/// `TVMFFIEnvTensorAlloc`.
pub unsafe fn allocate(prototype: *mut DLTensor) -> Result<Tensor> {
    let Some(allocator) = get() else {
        // SAFETY: the caller guarantees the prototype.
        if let Some(made) = unsafe { allocate_by_default(prototype) } {
            return made;
        }
        plain_bail!(
            RUNTIME_ERROR,
            "TVMFFIEnvTensorAlloc: allocator is nullptr, likely because TVMFFIEnvSetDLPackManagedTensorAllocator has \
             not been called."
        );
    };
    // SAFETY: the caller guarantees the prototype. It is checked here because allocators trust it.
    unsafe { check_shape(&*prototype)? };
    let mut managed: *mut DLManagedTensorVersioned = ptr::null_mut();
    // SAFETY: the code that set the allocator guarantees it, the caller the prototype; no lock is
    // held.
    function::checked(|| unsafe {
        allocator(prototype, &mut managed, ptr::null_mut(), Some(set_error))
    })?;
    plain_ensure!(
        !managed.is_null(),
        RUNTIME_ERROR,
        "Check failed: (dlpack_tensor != nullptr) is false: \
         TVMFFIEnvTensorAlloc: failed to allocate a tensor from the allocator"
    );
    // SAFETY: a tensor from the allocator is owned by the caller and valid until its deleter is
    // called (contract of its type).
    unsafe { Tensor::from_dlpack_versioned(managed, 0, false) }.inspect_err(|_| {
        // SAFETY: as above; on failure the tensor is still owned here.
        unsafe {
            if let Some(deleter) = (*managed).deleter {
                deleter(managed);
            }
        }
    })
}

/// Error callback passed to allocators: raises an error of the given kind and message, with the
/// backtrace of the call. A null kind means RuntimeError, a null message an empty one.
unsafe extern "C" fn set_error(_: *mut c_void, kind: *const c_char, message: *const c_char) {
    // SAFETY: by the contract of its type, the allocator passes null or C strings that are valid
    // for the call.
    let text =
        |text: *const c_char| unsafe { (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes()) };
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

    /// Serialises the tests, which share the global allocator.
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
        let shape =
            unsafe { core::slice::from_raw_parts(prototype.shape, prototype.ndim as usize) }
                .to_vec();
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
        // SAFETY: the library passes an error callback.
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
        // SAFETY: the allocators of these tests fulfil the contract; the prototype is valid.
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
            error.message_bytes(),
            b"TVMFFIEnvTensorAlloc: allocator is nullptr, likely because \
              TVMFFIEnvSetDLPackManagedTensorAllocator has not been called."
        );
        let error = allocate_with(Some(failing)).unwrap_err();
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"ValueError"[..], &b"no room"[..])
        );
        let error = allocate_with(Some(nothing)).unwrap_err();
        assert!(
            error
                .message_bytes()
                .ends_with(b"TVMFFIEnvTensorAlloc: failed to allocate a tensor from the allocator")
        );
        let before = RELEASED.load(Ordering::SeqCst);
        assert_eq!(allocate_with(Some(wrong_version)).unwrap_err().kind_bytes(), b"RuntimeError");
        assert_eq!(RELEASED.load(Ordering::SeqCst), before + 1);
    }

    #[test]
    #[cfg(feature = "std")]
    fn a_thread_without_allocator_uses_the_global_one() {
        let _order = one_at_a_time();
        let is_set = || get().is_some();
        // SAFETY: the allocator fulfils the contract.
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

//! Functions of the Python interpreter that a front end registers, for reference counts of exceptions.

use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr::{self, NonNull};

use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

/// Pointer to a function of the interpreter; null until it is registered.
struct Hook {
    name: &'static [u8],
    function: AtomicPtr<c_void>,
}

impl Hook {
    const fn new(name: &'static [u8]) -> Hook {
        Hook { name, function: AtomicPtr::new(ptr::null_mut()) }
    }

    fn get(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.function.load(Ordering::Acquire))
    }
}

/// Hook for `void Py_IncRef(PyObject*)`.
static INC_REF: Hook = Hook::new(b"Py_IncRef");
/// Hook for `void Py_DecRef(PyObject*)`.
static DEC_REF: Hook = Hook::new(b"Py_DecRef");
/// Hook for `PyGILState_STATE PyGILState_Ensure(void)`.
static ENSURE_LOCK: Hook = Hook::new(b"PyGILState_Ensure");
/// Hook for `void PyGILState_Release(PyGILState_STATE)`.
static RELEASE_LOCK: Hook = Hook::new(b"PyGILState_Release");

/// C function that takes a Python object.
pub type ObjectFunction = unsafe extern "C" fn(object: *mut c_void);

/// Registers a function of the interpreter. Returns `false` for an unknown name.
///
/// # Safety
/// The function must be the interpreter's function of that name, and stay valid as long as the process runs.
pub unsafe fn register(name: &[u8], function: *mut c_void) -> bool {
    let hooks = [&INC_REF, &DEC_REF, &ENSURE_LOCK, &RELEASE_LOCK];
    let Some(hook) = hooks.into_iter().find(|hook| hook.name == name) else { return false };
    hook.function.store(function, Ordering::Release);
    true
}

/// Returns the functions that retain and release a Python object. Returns `None` unless both hooks are registered.
pub fn counting() -> Option<(ObjectFunction, ObjectFunction)> {
    let retain = INC_REF.get()?;
    DEC_REF.get()?;
    // SAFETY: the contract of `register`: a function of this type.
    Some((unsafe { transmute::<*mut c_void, ObjectFunction>(retain.as_ptr()) }, release))
}

/// Releases a Python object. Acquires the GIL for this if the front end registered the functions that acquire and
/// release it.
unsafe extern "C" fn release(object: *mut c_void) {
    let Some(dec_ref) = DEC_REF.get() else { return };
    // SAFETY: the contract of `register`: functions of these types; the caller transfers a reference to the object.
    unsafe {
        let dec_ref = transmute::<*mut c_void, ObjectFunction>(dec_ref.as_ptr());
        match (ENSURE_LOCK.get(), RELEASE_LOCK.get()) {
            (Some(ensure), Some(release)) => {
                let ensure = transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(ensure.as_ptr());
                let release = transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(release.as_ptr());
                let state = ensure();
                dec_ref(object);
                release(state);
            }
            _ => dec_ref(object),
        }
    }
}

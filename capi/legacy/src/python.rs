//! Functions of the Python interpreter, for reference counts of exceptions: registered by a front
//! end, or found in the library that defines `Py_DecRef`.
//!
//! Foreign calls through ctypes release the interpreter's lock, so it is acquired before any count
//! changes. Front ends before 0.18 do not register the functions that acquire it; they are looked
//! up in the library that defines `Py_DecRef`.

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr::{self, NonNull};

use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_host::dynamic_lib::driver;

/// Pointer to a function of the interpreter; null until it is registered.
struct Hook {
    name: &'static CStr,
    function: AtomicPtr<c_void>,
}

impl Hook {
    const fn new(name: &'static CStr) -> Hook {
        Hook { name, function: AtomicPtr::new(ptr::null_mut()) }
    }

    fn get(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.function.load(Ordering::Acquire))
    }

    /// Looks up the function in the library that defines `known`, and stores its address.
    #[cold]
    fn find_beside(&self, known: &Hook) -> Option<NonNull<c_void>> {
        let found = driver::symbol_beside(known.get()?, self.name)?;
        self.function.store(found.as_ptr(), Ordering::Release);
        Some(found)
    }
}

/// Hook for `void Py_IncRef(PyObject*)`.
static INC_REF: Hook = Hook::new(c"Py_IncRef");
/// Hook for `void Py_DecRef(PyObject*)`.
static DEC_REF: Hook = Hook::new(c"Py_DecRef");
/// Hook for `PyGILState_STATE PyGILState_Ensure(void)`.
static ENSURE_LOCK: Hook = Hook::new(c"PyGILState_Ensure");
/// Hook for `void PyGILState_Release(PyGILState_STATE)`.
static RELEASE_LOCK: Hook = Hook::new(c"PyGILState_Release");

/// C function that takes a Python object.
pub type ObjectFunction = unsafe extern "C" fn(object: *mut c_void);

/// Registers a function of the interpreter. Returns `false` for an unknown name.
///
/// # Safety
/// The function must be the interpreter's function of that name, and stay valid as long as the
/// process runs.
pub unsafe fn register(name: &[u8], function: *mut c_void) -> bool {
    let hooks = [&INC_REF, &DEC_REF, &ENSURE_LOCK, &RELEASE_LOCK];
    let Some(hook) = hooks.into_iter().find(|hook| hook.name.to_bytes() == name) else {
        return false;
    };
    hook.function.store(function, Ordering::Release);
    true
}

/// Returns the functions that retain and release a Python object. Returns `None` unless both hooks
/// are registered.
pub fn refcount_functions() -> Option<(ObjectFunction, ObjectFunction)> {
    INC_REF.get()?;
    DEC_REF.get()?;
    Some((retain, release))
}

/// Retains a Python object, with the interpreter's lock if it can be acquired.
unsafe extern "C" fn retain(object: *mut c_void) {
    let Some(function) = INC_REF.get() else { return };
    // SAFETY: the contract of `register`; the caller guarantees a live object.
    unsafe {
        let function = transmute::<*mut c_void, ObjectFunction>(function.as_ptr());
        with_lock(lock(), || function(object));
    }
}

/// Releases a Python object. It is leaked if the interpreter's lock cannot be acquired.
unsafe extern "C" fn release(object: *mut c_void) {
    let (Some(function), Some(lock)) = (DEC_REF.get(), lock()) else { return };
    // SAFETY: the contract of `register`; the caller transfers a reference to the object.
    unsafe {
        let function = transmute::<*mut c_void, ObjectFunction>(function.as_ptr());
        with_lock(Some(lock), || function(object));
    }
}

/// Functions that acquire and release the interpreter's lock.
type Lock = (NonNull<c_void>, NonNull<c_void>);

/// Runs `body` with the interpreter's lock, if the process has an interpreter.
///
/// # Safety
/// The functions must be those of the interpreter.
unsafe fn with_lock(lock: Option<Lock>, body: impl FnOnce()) {
    let Some((acquire, release)) = lock else { return body() };
    // SAFETY: the caller guarantees functions of these types.
    unsafe {
        let acquire = transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(acquire.as_ptr());
        let release = transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(release.as_ptr());
        let state = acquire();
        body();
        release(state);
    }
}

/// Returns the functions that acquire and release the interpreter's lock: the registered ones, or
/// those of the library that defines `Py_DecRef`. `None` if there are none.
fn lock() -> Option<Lock> {
    let found = |hook: &Hook| hook.get().or_else(|| hook.find_beside(&DEC_REF));
    Some((found(&ENSURE_LOCK)?, found(&RELEASE_LOCK)?))
}

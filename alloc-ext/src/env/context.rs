//! Callbacks of the host language for low-level code: Python's signal check and interpreter lock.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;

use ferrite_core::error::{Error, Result, raised_error};
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::{plain_bail, plain_ensure};

/// Error kind of an error that is already set in the host language, whose bindings raise that error
/// instead.
const ENV_ERROR_ALREADY_SET: &str = "EnvErrorAlreadySet";

/// Signature of `int PyErr_CheckSignals(void)`.
type CheckSignals = unsafe extern "C" fn() -> c_int;
/// Signature of `PyGILState_STATE PyGILState_Ensure(void)`, as upstream declares it.
type EnsureLock = unsafe extern "C" fn() -> *mut c_void;
/// Signature of `void PyGILState_Release(PyGILState_STATE)`, as upstream declares it.
type ReleaseLock = unsafe extern "C" fn(*mut c_void);

/// A registrable function of the host language.
struct ContextSymbol {
    name: &'static str,
    /// Address of the function; null until it is registered.
    address: AtomicPtr<c_void>,
}

impl ContextSymbol {
    const fn new(name: &'static str) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    fn address(&self) -> *mut c_void {
        self.address.load(Ordering::Acquire)
    }
}

/// The signal check, and acquisition and release of the interpreter lock, in this order.
static SYMBOLS: [ContextSymbol; 3] = [
    ContextSymbol::new("PyErr_CheckSignals"),
    ContextSymbol::new("PyGILState_Ensure"),
    ContextSymbol::new("PyGILState_Release"),
];

/// Registers a function of the host language: `PyErr_CheckSignals`, `PyGILState_Ensure` or
/// `PyGILState_Release`. Replaces the function registered before under the name; null removes it.
///
/// # Errors
/// ValueError for any other name.
///
/// # Safety
/// `symbol` must be null or a function with the signature that its name implies, callable from any
/// thread from now on.
///
/// # Upstream
/// `TVMFFIEnvRegisterCAPI`.
pub unsafe fn register(name: &[u8], symbol: *mut c_void) -> Result<()> {
    let Some(known) = SYMBOLS.iter().find(|known| known.name.as_bytes() == name) else {
        plain_bail!(VALUE_ERROR, "Unknown env API {}", name);
    };
    known.address.store(symbol, Ordering::Release);
    Ok(())
}

/// Makes the host language handle pending signals, if it registered a signal check. Holds the
/// interpreter lock during the check.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::env::context;
///
/// # fn main() -> ferrite_core::Result<()> {
/// for _step in 0..1_000_000 {
///     // One step of long work, which the user may end in Python by Ctrl-C.
///     # break;
/// }
/// context::check_signals()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The error that a signal handler raised through this library; `EnvErrorAlreadySet` if the handler
/// set an error in the host language, where it stays; InternalError if the functions for the
/// interpreter lock are not registered.
///
/// # Upstream
/// `TVMFFIEnvCheckSignals`, which raises no error itself; its callers raise `EnvErrorAlreadySet`.
pub fn check_signals() -> Result<()> {
    let [check, ..] = &SYMBOLS;
    let address = check.address();
    if address.is_null() {
        return Ok(());
    }
    let _lock = InterpreterLock::acquire()?;
    // Microcontrollers have no signals, and save the flash.
    let earlier = if cfg!(feature = "std") { raised_error::take() } else { None };
    // SAFETY: the caller of `register` guaranteed the type of the function.
    let status = unsafe { mem::transmute::<*mut c_void, CheckSignals>(address)() };
    if status != 0 {
        return Err(raised_error::take().unwrap_or_else(already_set));
    }
    if let Some(error) = earlier {
        raised_error::set_again(error);
    }
    Ok(())
}

/// Creates the error which reports that a signal handler of the host language raised an exception.
#[cold]
fn already_set() -> Error {
    Error::from_parts(ferrite_core::__error_site!(), ENV_ERROR_ALREADY_SET, &|out| {
        out.put(b"A signal handler of the environment raised an error");
    })
}

/// Guard of the interpreter lock, released on drop.
struct InterpreterLock {
    state: *mut c_void,
    release: ReleaseLock,
}

impl InterpreterLock {
    fn acquire() -> Result<Self> {
        let [_, ensure, release] = &SYMBOLS;
        let (ensure, release) = (ensure.address(), release.address());
        let both = !ensure.is_null() && !release.is_null();
        plain_ensure!(
            both,
            INTERNAL_ERROR,
            "PyErr_CheckSignals is registered without PyGILState_Ensure and _Release"
        );
        // SAFETY: the caller of `register` guaranteed the types of the functions.
        unsafe {
            let ensure = mem::transmute::<*mut c_void, EnsureLock>(ensure);
            let release = mem::transmute::<*mut c_void, ReleaseLock>(release);
            Ok(InterpreterLock { state: ensure(), release })
        }
    }
}

impl Drop for InterpreterLock {
    fn drop(&mut self) {
        // State 0 means that this thread held the lock before; upstream does not release it then
        // either.
        if !self.state.is_null() {
            // SAFETY: the state comes from the matching function.
            unsafe { (self.release)(self.state) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicI32, AtomicUsize};

    static ANSWER: AtomicI32 = AtomicI32::new(0);
    static HELD: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn check() -> c_int {
        assert_eq!(HELD.load(Ordering::SeqCst), 1);
        ANSWER.load(Ordering::SeqCst)
    }

    unsafe extern "C" fn ensure() -> *mut c_void {
        HELD.fetch_add(1, Ordering::SeqCst);
        ptr::without_provenance_mut(1)
    }

    unsafe extern "C" fn release(state: *mut c_void) {
        assert_eq!(state.addr(), 1);
        HELD.fetch_sub(1, Ordering::SeqCst);
    }

    /// A handler that raises an error in this library, as a host in C does.
    unsafe extern "C" fn raising() -> c_int {
        raised_error::set(ferrite_core::plain_error!(RUNTIME_ERROR, "interrupted"));
        -1
    }

    #[test]
    fn signals_are_checked_under_the_lock() -> Result<()> {
        check_signals()?;
        // SAFETY: the functions have the types that their names imply.
        unsafe {
            let error = register(b"PyErr_Print", ptr::null_mut()).unwrap_err();
            assert_eq!(
                (error.kind_bytes(), error.message_bytes()),
                (&b"ValueError"[..], &b"Unknown env API PyErr_Print"[..])
            );
            register(b"PyErr_CheckSignals", check as *mut c_void)?;
            assert_eq!(check_signals().unwrap_err().kind_bytes(), b"InternalError");
            register(b"PyGILState_Ensure", ensure as *mut c_void)?;
            register(b"PyGILState_Release", release as *mut c_void)?;
            check_signals()?;
            ANSWER.store(-1, Ordering::SeqCst);
            assert_eq!(check_signals().unwrap_err().kind_bytes(), b"EnvErrorAlreadySet");
            assert_eq!(HELD.load(Ordering::SeqCst), 0);
            register(b"PyErr_CheckSignals", raising as *mut c_void)?;
            assert_eq!(check_signals().unwrap_err().message_bytes(), b"interrupted");
            register(b"PyErr_CheckSignals", check as *mut c_void)?;
            if cfg!(feature = "std") {
                // An earlier error is not the handler's. It stays if there is none.
                raised_error::set(ferrite_core::plain_error!(KEY_ERROR, "earlier"));
                assert_eq!(check_signals().unwrap_err().kind_bytes(), b"EnvErrorAlreadySet");
                raised_error::set(ferrite_core::plain_error!(KEY_ERROR, "earlier"));
                ANSWER.store(0, Ordering::SeqCst);
                check_signals()?;
                assert_eq!(raised_error::take().unwrap().message_bytes(), b"earlier");
            }
            register(b"PyErr_CheckSignals", ptr::null_mut())?;
            check_signals()
        }
    }
}

//! Handles that are made once and released once, whoever asks first.
//!
//! A user's function makes the handle, so no lock is held meanwhile. Whoever is making one is listed in a chain of
//! records on the stacks of the makers; others who need the same handle wait, and makers of other handles do not.

use core::ffi::{c_int, c_void};
use core::num::NonZeroUsize;
use core::ptr;

use crate::error::Result;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{Mutex, current_thread, exchange, pause};

/// Makes a handle: writes it through the pointer and gives 0, or raises an error and gives something else.
pub type InitFunction = unsafe extern "C" fn(result: *mut *mut c_void) -> c_int;

/// Releases a handle: gives 0, or raises an error and gives something else.
pub type DeinitFunction = unsafe extern "C" fn(handle: *mut c_void) -> c_int;

/// Makes the handle at `handle_addr` by `init_func`, unless it is there already; gives the status of `init_func`.
///
/// Threads: of several callers one makes the handle and the others wait for it; when it fails, the next one tries.
/// `init_func` may make other handles. Allocation: none.
///
/// # Errors
/// RuntimeError when `init_func` succeeds without a handle, and when it asks for the handle that it is making (told
/// apart from a race where the build can tell threads apart). A failed attempt leaves the handle null.
///
/// # Safety
/// `handle_addr` is valid for atomic access as long as anybody uses the handle and was null before the first call;
/// `init_func` follows its contract.
///
/// # Upstream
/// `TVMFFIHandleInitOnce` in `init_once.cc`, which holds one lock for all handles and deadlocks on nesting.
pub unsafe fn init(handle_addr: *mut *mut c_void, init_func: InitFunction) -> Result<c_int> {
    // SAFETY: the caller's promise.
    let handle = unsafe { AtomicPtr::from_ptr(handle_addr) };
    // SAFETY: the result is a place for a pointer; the rest is the caller's promise.
    init_with(&MAKERS, handle, |result| unsafe { init_func(result) })
}

/// Takes the handle from `handle_addr`, leaving null, and releases it by `deinit_func`, whose status it gives; 0 when
/// there was none.
///
/// # Safety
/// As [`init`]; nobody uses the handle any more.
///
/// # Upstream
/// `TVMFFIHandleDeinitOnce` in `init_once.cc`.
pub unsafe fn deinit(handle_addr: *mut *mut c_void, deinit_func: DeinitFunction) -> c_int {
    // SAFETY: the caller's promise.
    let handle = exchange(unsafe { AtomicPtr::from_ptr(handle_addr) }, ptr::null_mut());
    if handle.is_null() {
        return 0;
    }
    // SAFETY: the exchange made this caller the only one to release the handle.
    unsafe { deinit_func(handle) }
}

static MAKERS: Mutex<Makers> = Mutex::new(Makers::NONE);

/// The handles that are being made: a chain of records on the stacks of their makers.
struct Makers(*const Maker);

/// One handle that is being made.
struct Maker {
    handle: *const AtomicPtr<c_void>,
    thread: Option<NonZeroUsize>,
    next: *const Maker,
}

// SAFETY: the records are only reached while the lock around `Makers` is held, and leave the chain before they go.
unsafe impl Send for Makers {}

/// What a caller finds when it looks for its handle.
enum Turn {
    /// It is there.
    Made,
    /// This caller makes it.
    Mine,
    /// Another thread is making it.
    Wait,
    /// This very thread is making it.
    Nested,
}

impl Makers {
    const NONE: Self = Self(ptr::null());

    fn find(&self, handle: &AtomicPtr<c_void>) -> Option<&Maker> {
        let mut at = self.0;
        // SAFETY: records in the chain are alive, and stay as long as the lock is held.
        while let Some(maker) = unsafe { at.as_ref() } {
            if ptr::eq(maker.handle, handle) {
                return Some(maker);
            }
            at = maker.next;
        }
        None
    }

    /// Decides whose turn it is and, if it is this caller's, puts its record into the chain.
    ///
    /// # Safety
    /// `own` stays where it is until [`Makers::remove`] took it out.
    unsafe fn enter(&mut self, handle: &AtomicPtr<c_void>, own: *mut Maker) -> Turn {
        if !handle.load(Ordering::Acquire).is_null() {
            return Turn::Made;
        }
        let here = current_thread();
        match self.find(handle) {
            Some(maker) if here.is_some() && maker.thread == here => Turn::Nested,
            Some(_) => Turn::Wait,
            None => {
                // SAFETY: the record is the caller's; nobody else knows it yet.
                unsafe { own.write(Maker { handle, thread: here, next: self.0 }) };
                self.0 = own;
                Turn::Mine
            }
        }
    }

    /// Takes a record out of the chain.
    ///
    /// # Safety
    /// The record is in the chain.
    unsafe fn remove(&mut self, own: *mut Maker) {
        // SAFETY: records in the chain are alive; only the holder of the lock changes their links.
        unsafe {
            let after = (*own).next;
            if ptr::eq(self.0, own) {
                self.0 = after;
                return;
            }
            let mut at = self.0.cast_mut();
            while !ptr::eq((*at).next, own) {
                at = (*at).next.cast_mut();
            }
            (*at).next = after;
        }
    }
}

fn init_with(
    makers: &Mutex<Makers>,
    handle: &AtomicPtr<c_void>,
    make: impl FnOnce(*mut *mut c_void) -> c_int,
) -> Result<c_int> {
    let mut round = 0;
    let mut record = core::mem::MaybeUninit::<Maker>::uninit();
    let own = record.as_mut_ptr();
    loop {
        if !handle.load(Ordering::Acquire).is_null() {
            return Ok(0);
        }
        // SAFETY: `record` lives until the end of this function, and `Making` takes it out before that.
        let turn = unsafe { makers.lock().enter(handle, own) };
        match turn {
            Turn::Made => return Ok(0),
            Turn::Mine => break,
            Turn::Wait => pause(round),
            Turn::Nested => {
                crate::bail!(RUNTIME_ERROR, "init_func asks for the handle that it is initializing")
            }
        }
        round = round.saturating_add(1);
    }
    let _making = Making { makers, own };
    publish(handle, make)
}

/// Runs the user's function and, when it made a handle, shows it to everybody.
fn publish(handle: &AtomicPtr<c_void>, make: impl FnOnce(*mut *mut c_void) -> c_int) -> Result<c_int> {
    let mut result = ptr::null_mut();
    let status = make(&mut result);
    if status != 0 {
        return Ok(status);
    }
    crate::ensure!(!result.is_null(), RUNTIME_ERROR, "init_func must return a non-NULL handle");
    handle.store(result, Ordering::Release);
    Ok(0)
}

/// Takes the maker's record out of the chain when the attempt ends, in whatever way.
struct Making<'a> {
    makers: &'a Mutex<Makers>,
    own: *mut Maker,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        // SAFETY: `enter` put the record into the chain, and it is taken out here only.
        unsafe { self.makers.lock().remove(self.own) }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::AtomicUsize;

    static MADE: AtomicUsize = AtomicUsize::new(0);
    static OUTER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    static INNER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

    unsafe extern "C" fn make_slowly(result: *mut *mut c_void) -> c_int {
        std::thread::yield_now();
        MADE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `init` passes a place for the result.
        unsafe { result.write(ptr::without_provenance_mut(1)) };
        0
    }

    unsafe extern "C" fn make_another_first(result: *mut *mut c_void) -> c_int {
        // SAFETY: the statics are valid handles, and `init` passes a place for the result.
        unsafe {
            let inner = init(INNER.as_ptr(), make_slowly).ok().unwrap();
            let nested = init(OUTER.as_ptr(), make_slowly);
            assert!(nested.is_err() || current_thread().is_none());
            result.write(ptr::without_provenance_mut(2));
            inner
        }
    }

    unsafe extern "C" fn fail(_result: *mut *mut c_void) -> c_int {
        -3
    }

    unsafe extern "C" fn forget(_result: *mut *mut c_void) -> c_int {
        0
    }

    unsafe extern "C" fn count(handle: *mut c_void) -> c_int {
        handle.addr() as c_int
    }

    #[test]
    fn one_of_many_threads_makes_the_handle() {
        static MADE_HERE: AtomicUsize = AtomicUsize::new(0);
        unsafe extern "C" fn make(result: *mut *mut c_void) -> c_int {
            std::thread::sleep(std::time::Duration::from_millis(2));
            MADE_HERE.fetch_add(1, Ordering::Relaxed);
            // SAFETY: `init` passes a place for the result.
            unsafe { result.write(ptr::without_provenance_mut(1)) };
            0
        }
        let handle = AtomicPtr::new(ptr::null_mut());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // SAFETY: the handle outlives the threads.
                    let status = unsafe { init(handle.as_ptr(), make) };
                    assert_eq!(status.ok(), Some(0));
                    assert!(!handle.load(Ordering::Relaxed).is_null());
                });
            }
        });
        assert_eq!(MADE_HERE.load(Ordering::Relaxed), 1);
    }

    #[cfg(feature = "std")]
    #[test]
    fn handles_nest_but_not_in_themselves() {
        // SAFETY: the static is a valid handle.
        let status = unsafe { init(OUTER.as_ptr(), make_another_first) };
        assert_eq!(status.ok(), Some(0));
        assert_eq!(OUTER.load(Ordering::Relaxed).addr(), 2);
        assert_eq!(INNER.load(Ordering::Relaxed).addr(), 1);
        assert!(MADE.load(Ordering::Relaxed) >= 1);
    }

    #[test]
    fn a_failure_lets_the_next_caller_try() {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is a local that only this test uses.
        unsafe {
            assert_eq!(init(&mut handle, fail).ok(), Some(-3));
            assert!(init(&mut handle, forget).is_err());
            assert!(handle.is_null());
            assert_eq!(init(&mut handle, make_slowly).ok(), Some(0));
            assert!(!handle.is_null());
        }
    }

    #[test]
    fn a_handle_is_released_once() {
        let mut handle = ptr::without_provenance_mut(7);
        // SAFETY: the handle is a local that only this test uses.
        unsafe {
            assert_eq!(deinit(&mut handle, count), 7);
            assert_eq!(deinit(&mut handle, count), 0);
        }
    }
}

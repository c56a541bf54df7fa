//! Initialisations in progress: a linked list of records, each on the stack of the initialising
//! thread.
//!
//! A caller waits only for the handle that it needs, so different handles are initialised in
//! parallel.
//!
//! An initialisation runs user callbacks, so a fork cannot wait for it. The child removes the
//! records of threads that do not exist in it: their work is abandoned, and the next caller
//! initialises the handle anew.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::num::NonZeroUsize;
use core::ptr;

use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::{Lock, current_thread, pause};

/// A list of initialisations in progress.
pub struct InProgress(Cell<*const Attempt>);

/// A failure that the initialising function does not report itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitFailure {
    /// The function succeeded without writing a handle.
    NoHandle,
    /// The function requested the handle that it is initialising.
    Nested,
}

/// The record of an initialisation in progress.
struct Attempt {
    handle: *const AtomicPtr<c_void>,
    thread: Option<NonZeroUsize>,
    next: *const Attempt,
}

// SAFETY: the records are only accessed under the lock around `InProgress`, and leave the list
// before they are dropped.
unsafe impl Send for InProgress {}

/// The outcome of a caller's attempt to claim the initialisation of a handle.
enum Claim {
    /// The handle is already initialised.
    Made,
    /// This caller must initialise the handle.
    Mine,
    /// Another thread is initialising the handle.
    Wait,
    /// This thread is already initialising the handle.
    Nested,
}

/// Initialises a handle with `make`, unless it is already initialised. Waits while another thread
/// initialises it. Returns the status of `make`, or 0 if the handle was already initialised.
pub fn init(
    makers: &Lock<InProgress>,
    handle: &AtomicPtr<c_void>,
    make: impl FnOnce(*mut *mut c_void) -> c_int,
) -> Result<c_int, InitFailure> {
    let mut record = MaybeUninit::uninit();
    let own = record.as_mut_ptr();
    let mut round = 0;
    loop {
        // SAFETY: `record` lives until the end of this function, and `AttemptGuard` removes it from
        // the list before that.
        let turn = makers.with(|makers| unsafe { makers.enter(handle, own) });
        match turn {
            Claim::Made => return Ok(0),
            Claim::Mine => {
                let _making = AttemptGuard { makers, own };
                return publish(handle, make);
            }
            Claim::Wait => pause(round),
            Claim::Nested => return Err(InitFailure::Nested),
        }
        round = round.saturating_add(1);
    }
}

/// Runs the user callback and, if it succeeds, stores its handle for all threads.
fn publish(
    handle: &AtomicPtr<c_void>,
    make: impl FnOnce(*mut *mut c_void) -> c_int,
) -> Result<c_int, InitFailure> {
    let mut result = ptr::null_mut();
    let status = make(&mut result);
    if status != 0 {
        return Ok(status);
    }
    if result.is_null() {
        return Err(InitFailure::NoHandle);
    }
    handle.store(result, Ordering::Release);
    Ok(0)
}

impl InProgress {
    /// Creates an empty list.
    pub const fn none() -> Self {
        Self(Cell::new(ptr::null()))
    }

    fn find(&self, handle: &AtomicPtr<c_void>) -> Option<&Attempt> {
        let mut at = self.0.get();
        // SAFETY: records in the list are alive while the lock is held.
        while let Some(maker) = unsafe { at.as_ref() } {
            if ptr::eq(maker.handle, handle) {
                return Some(maker);
            }
            at = maker.next;
        }
        None
    }

    /// Claims the initialisation of a handle: adds `own` to the list if the handle is null and no
    /// other caller has claimed it.
    ///
    /// # Safety
    /// `own` must stay at its address until [`InProgress::remove`] has removed it.
    unsafe fn enter(&self, handle: &AtomicPtr<c_void>, own: *mut Attempt) -> Claim {
        // An attempt publishes its handle before it leaves the list, so a caller that sees neither
        // is first.
        if !handle.load(Ordering::Acquire).is_null() {
            return Claim::Made;
        }
        let here = current_thread();
        match self.find(handle) {
            Some(maker) if here.is_some() && maker.thread == here => Claim::Nested,
            Some(_) => Claim::Wait,
            None => {
                // SAFETY: the record is the caller's and not shared yet.
                unsafe { own.write(Attempt { handle, thread: here, next: self.0.get() }) };
                self.0.set(own);
                Claim::Mine
            }
        }
    }

    /// Abandons the initialisations of all other threads. Called after a fork, because the child
    /// does not have those threads.
    ///
    /// Must be called before the child runs anything else: the records lie on the stacks of the
    /// vanished threads.
    #[allow(dead_code, reason = "only hosts fork")]
    pub(crate) fn keep_own_thread(&mut self) {
        let here = current_thread();
        let mut link: *mut *const Attempt = self.0.as_ptr();
        // SAFETY: the memory of the records is still mapped, and no other thread accesses it;
        // `link` is the head or the link of a record of this thread, which is alive.
        unsafe {
            while let Some(maker) = (*link).as_ref() {
                if maker.thread == here {
                    link = &raw mut (*(*link).cast_mut()).next;
                } else {
                    *link = maker.next;
                }
            }
        }
    }

    /// Removes a record from the list.
    ///
    /// # Safety
    /// The record must be in the list.
    unsafe fn remove(&self, own: *mut Attempt) {
        // SAFETY: records in the list are alive; only the holder of the lock changes their links.
        unsafe {
            let after = (*own).next;
            if ptr::eq(self.0.get(), own) {
                self.0.set(after);
                return;
            }
            let mut at = self.0.get().cast_mut();
            while !ptr::eq((*at).next, own) {
                at = (*at).next.cast_mut();
            }
            (*at).next = after;
        }
    }
}

/// A guard that removes the record of an initialisation from the list when the attempt ends, even
/// by a panic.
struct AttemptGuard<'a> {
    makers: &'a Lock<InProgress>,
    own: *mut Attempt,
}

impl Drop for AttemptGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: `enter` added the record to the list, and only this guard removes it.
        self.makers.with(|makers| unsafe { makers.remove(self.own) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::AtomicBool;
    use std::thread;

    /// Simulates a child forked by one initialising thread while another thread was initialising,
    /// too.
    #[test]
    fn a_child_abandons_what_other_threads_make() {
        if current_thread().is_none() {
            return; // Builds that cannot tell threads apart do not fork.
        }
        static IN_PROGRESS: Lock<InProgress> = Lock::new(InProgress::none());
        static THEIRS: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
        static OWN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
        static MAKING: AtomicBool = AtomicBool::new(false);
        static GONE: AtomicBool = AtomicBool::new(false);
        let made = |result: *mut *mut c_void| {
            // SAFETY: `init` passes a valid result pointer.
            unsafe { result.write(ptr::without_provenance_mut(1)) };
            0
        };
        let outcome = init(&IN_PROGRESS, &OWN, |result| {
            let other = thread::spawn(move || {
                let mut own = MaybeUninit::uninit();
                // SAFETY: the record stays until `keep_own_thread` has removed it from the list.
                let claim =
                    IN_PROGRESS.with(|makers| unsafe { makers.enter(&THEIRS, own.as_mut_ptr()) });
                assert!(matches!(claim, Claim::Mine));
                MAKING.store(true, Ordering::Release);
                while !GONE.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
            while !MAKING.load(Ordering::Acquire) {
                thread::yield_now();
            }
            IN_PROGRESS.with_mut(InProgress::keep_own_thread);
            assert_eq!(init(&IN_PROGRESS, &THEIRS, made), Ok(0));
            assert_eq!(init(&IN_PROGRESS, &OWN, made), Err(InitFailure::Nested), "its own stays");
            GONE.store(true, Ordering::Release);
            assert!(other.join().is_ok());
            made(result)
        });
        assert_eq!((outcome, IN_PROGRESS.with(|makers| makers.0.get().is_null())), (Ok(0), true));
    }
}

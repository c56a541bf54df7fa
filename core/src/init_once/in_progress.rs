//! Who is making which handle: a chain of records on the stacks of the makers.
//!
//! Callers who need a handle that another thread is making wait for it; makers of other handles do not wait.
//!
//! A maker runs user callbacks, so a fork cannot wait for it. In the child, the records of makers that are not there are taken
//! out of the chain: what they had begun is abandoned, and the next caller makes the handle anew.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::num::NonZeroUsize;
use core::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{Lock, current_thread, pause};

/// The handles that are being made.
pub struct InProgress(Cell<*const Attempt>);

/// The reasons for an error that is not one of the function which makes the handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitFailure {
    /// The function succeeded without writing one.
    NoHandle,
    /// The function asked for the handle that it is making.
    Nested,
}

/// One handle that is being made.
struct Attempt {
    handle: *const AtomicPtr<c_void>,
    thread: Option<NonZeroUsize>,
    next: *const Attempt,
}

// SAFETY: the records are only reached while the lock around `InProgress` is held, and leave the chain before they go.
unsafe impl Send for InProgress {}

/// What a caller finds when it looks for its handle.
enum Claim {
    /// It is there.
    Made,
    /// This caller makes it.
    Mine,
    /// Another thread is making it.
    Wait,
    /// This very thread is making it.
    Nested,
}

/// Makes a handle by `make`, unless it is there or another caller makes it; gives the status of `make`.
pub fn init(
    makers: &Lock<InProgress>,
    handle: &AtomicPtr<c_void>,
    make: impl FnOnce(*mut *mut c_void) -> c_int,
) -> Result<c_int, InitFailure> {
    let mut record = MaybeUninit::uninit();
    let own = record.as_mut_ptr();
    let mut round = 0;
    loop {
        // SAFETY: `record` lives until the end of this function, and `AttemptGuard` takes it out of the chain before that.
        let turn = unsafe { makers.lock().enter(handle, own) };
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

/// Runs the user's function and, when it made a handle, shows it to everybody.
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
    /// An empty list of makers.
    pub const fn none() -> Self {
        Self(Cell::new(ptr::null()))
    }

    fn find(&self, handle: &AtomicPtr<c_void>) -> Option<&Attempt> {
        let mut at = self.0.get();
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
    /// `own` stays where it is until [`InProgress::remove`] took it out.
    unsafe fn enter(&self, handle: &AtomicPtr<c_void>, own: *mut Attempt) -> Claim {
        // A maker publishes before it leaves the chain, so whoever finds neither handle nor maker is first.
        if !handle.load(Ordering::Acquire).is_null() {
            return Claim::Made;
        }
        let here = current_thread();
        match self.find(handle) {
            Some(maker) if here.is_some() && maker.thread == here => Claim::Nested,
            Some(_) => Claim::Wait,
            None => {
                // SAFETY: the record is the caller's; nobody else knows it yet.
                unsafe { own.write(Attempt { handle, thread: here, next: self.0.get() }) };
                self.0.set(own);
                Claim::Mine
            }
        }
    }

    /// Abandons what other threads than this one are making: after a fork, the child does not have them.
    ///
    /// To be called before the child runs anything else: the records lie on the stacks of those threads.
    #[allow(dead_code, reason = "only hosts fork")]
    pub fn keep_own_thread(&mut self) {
        let here = current_thread();
        let mut link: *mut *const Attempt = self.0.as_ptr();
        // SAFETY: the memory of the records is still there, and nobody else reaches them; `link` is the head or the link of a
        // record of this thread, which is alive.
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

    /// Takes a record out of the chain.
    ///
    /// # Safety
    /// The record is in the chain.
    unsafe fn remove(&self, own: *mut Attempt) {
        // SAFETY: records in the chain are alive; only the holder of the lock changes their links.
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

/// Takes the maker's record out of the chain when the attempt ends, in whatever way.
struct AttemptGuard<'a> {
    makers: &'a Lock<InProgress>,
    own: *mut Attempt,
}

impl Drop for AttemptGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: `enter` put the record into the chain, and it is taken out here only.
        unsafe { self.makers.lock().remove(self.own) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::AtomicBool;
    use std::thread;

    /// As in a child that was forked by a maker while another thread was making a handle, and has made none of it since.
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
            // SAFETY: `init` passes a place for the handle.
            unsafe { result.write(ptr::without_provenance_mut(1)) };
            0
        };
        let outcome = init(&IN_PROGRESS, &OWN, |result| {
            let other = thread::spawn(move || {
                let mut own = MaybeUninit::uninit();
                // SAFETY: the record stays until `keep_own_thread` has removed it from the list.
                let claim = unsafe { IN_PROGRESS.lock().enter(&THEIRS, own.as_mut_ptr()) };
                assert!(matches!(claim, Claim::Mine));
                MAKING.store(true, Ordering::Release);
                while !GONE.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
            while !MAKING.load(Ordering::Acquire) {
                thread::yield_now();
            }
            IN_PROGRESS.lock().keep_own_thread();
            assert_eq!(init(&IN_PROGRESS, &THEIRS, made), Ok(0));
            assert_eq!(init(&IN_PROGRESS, &OWN, made), Err(InitFailure::Nested), "its own stays");
            GONE.store(true, Ordering::Release);
            assert!(other.join().is_ok());
            made(result)
        });
        assert_eq!((outcome, IN_PROGRESS.lock().0.get().is_null()), (Ok(0), true));
    }
}

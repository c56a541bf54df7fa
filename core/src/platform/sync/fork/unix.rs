//! Fork handlers by `pthread_atfork`: they prepare all parts, and release them in the parent and in
//! the child.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::super::imp::current_thread;
use super::parts::{AtFork, Parts, RING_COUNT, RINGS};

/// The thread that is forking and holds the [`RINGS`] lock, or zero.
static FORKING: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
}

/// Registers the fork handlers with the system, once. When out of memory, forks are not protected.
pub(super) fn register() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if REGISTERED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Allocators register their handlers at first use.
    let layout = core::alloc::Layout::new::<u64>();
    if let Some(block) = crate::platform::memory::allocate(layout) {
        // SAFETY: the block is new and has this layout.
        unsafe { crate::platform::memory::release(block, layout) };
    }
    // SAFETY: the handlers may run on any thread, and in a new process. They are removed when the
    // library is unloaded.
    unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// Identifies this thread; its copy in a child process has the same value. Returns 1 while the
/// thread's thread-local storage is being destroyed.
fn this_thread() -> usize {
    current_thread().map_or(1, core::num::NonZeroUsize::get)
}

unsafe extern "C" fn prepare() {
    let guard = RINGS.lock();
    let rings = *guard;
    RINGS.across_fork.keep(guard);
    FORKING.store(this_thread(), Ordering::Relaxed);
    // SAFETY: the system runs `parent` or `child` next, on this thread.
    all(&rings, |part| unsafe { part.prepare() });
}

unsafe extern "C" fn parent() {
    // SAFETY: each part was prepared for this fork.
    finish(|part| unsafe { part.parent() });
}

unsafe extern "C" fn child() {
    // SAFETY: each part was prepared for this fork.
    finish(|part| unsafe { part.child() });
}

/// Calls `prepare` for all parts in the order of preparation.
fn all(rings: &[Parts; RING_COUNT], prepare: impl Fn(&'static dyn AtFork)) {
    rings.iter().rev().copied().flatten().for_each(|part| prepare(*part));
}

/// Calls `end` for all parts in the reverse order of preparation.
fn all_reversed(rings: &[Parts; RING_COUNT], end: impl Fn(&'static dyn AtFork)) {
    rings.iter().flat_map(|parts| parts.iter().rev()).for_each(|part| end(*part));
}

/// Calls `end` for all parts that [`prepare`] prepared on this thread. Does nothing if [`prepare`]
/// did not run because the handlers were registered during the fork.
fn finish(end: impl Fn(&'static dyn AtFork)) {
    if FORKING.load(Ordering::Relaxed) != this_thread() {
        return;
    }
    FORKING.store(0, Ordering::Relaxed);
    // SAFETY: `prepare` of this thread kept the guard.
    let Some(rings) = (unsafe { RINGS.across_fork.take() }) else { return };
    all_reversed(&rings, end);
}

#[cfg(test)]
mod tests {
    use super::super::Hook;
    use super::*;
    use core::sync::atomic::AtomicU32;

    #[test]
    fn parts_end_in_the_reverse_order() {
        static STEPS: AtomicU32 = AtomicU32::new(0);
        fn step(digit: u32) {
            STEPS.store(STEPS.load(Ordering::Relaxed) * 10 + digit, Ordering::Relaxed);
        }
        static OUTER: Hook = Hook { prepare: || step(1), parent: || step(4), child: || step(9) };
        static INNER: Hook = Hook { prepare: || step(2), parent: || step(3), child: || step(9) };
        // Rings of this test, apart from the enlisted ones.
        static CORE: Parts = &[&INNER];
        static HOST: Parts = &[&OUTER];
        let mut rings: [Parts; RING_COUNT] = [&[]; RING_COUNT];
        (rings[0], rings[2]) = (CORE, HOST);
        // SAFETY: hooks store nothing.
        unsafe {
            all(&rings, |part| part.prepare());
            all_reversed(&rings, |part| part.parent());
        }
        assert_eq!(STEPS.load(Ordering::Relaxed), 1234);
    }
}

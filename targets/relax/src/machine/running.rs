//! The machines that run on a thread, by which builtins recognise the pointer that they receive.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_core::platform::sync::per_thread;

use super::Machine;

/// A machine in the list of those that run on a thread; null at its end.
#[derive(Clone, Copy)]
struct Link(*const Machine);

// SAFETY: a machine is followed by the thread that runs it only, and in builds with one list by the
// one thread that there is.
unsafe impl Send for Link {}

ferrite_core::per_thread! {
    /// The machine that began to run last.
    static LATEST: Link = Link(ptr::null())
}

/// Position of a running machine in the list of its thread.
pub(super) struct Position(Cell<*const Machine>);

impl Position {
    pub(super) const fn new() -> Position {
        Position(Cell::new(ptr::null()))
    }
}

/// Adds a machine that begins to run on this thread.
///
/// # Safety
/// The machine must be owned by this thread, must not be in the list, and must stay borrowed until
/// [`remove`] is called.
#[inline]
pub(super) unsafe fn add(machine: &Machine) {
    per_thread::with(&LATEST, |latest| {
        machine.position.0.set(latest.0);
        latest.0 = machine;
    });
}

/// Removes a machine that ends to run on this thread. It is the latest one, since calls are nested.
#[inline]
pub(super) fn remove(machine: &Machine) {
    per_thread::with(&LATEST, |latest| latest.0 = machine.position.0.get());
}

/// Returns the running machine with this address; `None` if there is none on this thread.
#[inline]
pub(super) fn find(address: *const c_void) -> Option<NonNull<Machine>> {
    let mut next = per_thread::with(&LATEST, |latest| latest.0)?;
    while let Some(machine) = NonNull::new(next.cast_mut()) {
        if ptr::addr_eq(next, address) {
            return Some(machine);
        }
        // SAFETY: machines in the list are borrowed, and only this thread changes their positions.
        next = unsafe { machine.as_ref() }.position.0.get();
    }
    None
}

//! The values of this thread that are to be destroyed.

extern crate std;

use core::cell::Cell;
use core::ptr;

/// The registration of a per-thread value. Part of the value, whose address is passed to `destroy`.
pub struct AtEnd {
    state: Cell<State>,
    value: Cell<*const ()>,
    next: Cell<*const AtEnd>,
    destroy: unsafe fn(*const ()),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    New,
    Registered,
    Destroyed,
}

std::thread_local! {
    /// The registered values of this thread, the last one first.
    static REGISTERED: Cell<*const AtEnd> = const { Cell::new(ptr::null()) };
}

impl AtEnd {
    /// Creates the registration of a value that `destroy` destroys.
    pub const fn new(destroy: unsafe fn(*const ())) -> Self {
        AtEnd {
            state: Cell::new(State::New),
            value: Cell::new(ptr::null()),
            next: Cell::new(ptr::null()),
            destroy,
        }
    }

    pub(super) fn state(&self) -> State {
        self.state.get()
    }

    /// Adds a value of this thread to the list.
    pub(super) fn link(&self, value: *const ()) {
        self.value.set(value);
        self.next.set(REGISTERED.replace(self));
        self.state.set(State::Registered);
    }

    /// Lets a destroyed value be used and registered again.
    #[cfg_attr(
        feature = "client",
        allow(dead_code, reason = "only the slot of the raised error is renewed")
    )]
    pub fn renew(&self) {
        self.state.set(State::New);
    }
}

/// Destroys the registered values of this thread. A value that a destructor registers is destroyed
/// by a later call.
pub(super) fn destroy_all() {
    let mut next = REGISTERED.replace(ptr::null());
    // SAFETY: registered values are in storage of this thread, which is valid while its destructors
    // run.
    while let Some(value) = unsafe { next.as_ref() } {
        next = value.next.get();
        value.state.set(State::Destroyed);
        // SAFETY: promised to `is_registered`; each value is in the list once.
        unsafe { (value.destroy)(value.value.get()) };
    }
}

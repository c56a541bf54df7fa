//! Destructors of per-thread values. They run when their thread ends, the last registered first.
//!
//! std's registration ends the process on glibc when it has no memory. This one allocates nothing,
//! or reports that it cannot: the values link themselves, in thread-locals that std has nothing to
//! destroy in.
//!
//! | item | meaning |
//! |---|---|
//! | `announce` | makes this thread call [`destroy_all`] when it ends; returns `false` if that is impossible |

extern crate std;

use core::cell::Cell;
use core::ptr;

#[cfg_attr(all(target_os = "linux", not(feature = "client")), path = "linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(feature = "client"))), path = "std.rs")]
mod imp;

/// The registration of a per-thread value. Part of the value, whose address is passed to `destroy`.
pub struct AtEnd {
    state: Cell<State>,
    value: Cell<*const ()>,
    next: Cell<*const AtEnd>,
    destroy: unsafe fn(*const ()),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
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

    /// Registers `value` at the first call. Returns `false` if that is impossible, because memory
    /// or keys are used up, and after the value was destroyed.
    ///
    /// # Safety
    /// `self` must be in a thread-local of this thread that is valid until the thread has ended,
    /// and `destroy` must accept `value` then.
    #[inline]
    pub unsafe fn is_registered(&self, value: *const ()) -> bool {
        self.state.get() == State::Registered || self.register(value)
    }

    #[cold]
    #[inline(never)]
    fn register(&self, value: *const ()) -> bool {
        if self.state.get() == State::Destroyed || !imp::announce() {
            return false;
        }
        self.value.set(value);
        self.next.set(REGISTERED.replace(self));
        self.state.set(State::Registered);
        true
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
fn destroy_all() {
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

//! Destructors of per-thread values. They run when their thread ends, the last registered first.
//!
//! std's registration ends the process on glibc when it has no memory. This one allocates nothing,
//! or reports that it cannot: the values link themselves, in thread-locals that std has nothing to
//! destroy in.
//!
//! | item | meaning |
//! |---|---|
//! | `announce` | makes this thread call `values::destroy_all` when it ends; returns `false` if that is impossible |

#[cfg_attr(all(target_os = "linux", not(feature = "client")), path = "linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(feature = "client"))), path = "std.rs")]
mod imp;
mod values;

pub use values::AtEnd;
use values::State;

impl AtEnd {
    /// Registers `value` at the first call. Returns `false` if that is impossible, because memory
    /// or keys are used up, and after the value was destroyed.
    ///
    /// # Safety
    /// `self` must be in a thread-local of this thread that is valid until the thread has ended,
    /// and `destroy` must accept `value` then.
    #[inline]
    pub unsafe fn is_registered(&self, value: *const ()) -> bool {
        self.state() == State::Registered || self.register(value)
    }

    #[cold]
    #[inline(never)]
    fn register(&self, value: *const ()) -> bool {
        if self.state() == State::Destroyed || !imp::announce() {
            return false;
        }
        self.link(value);
        true
    }
}

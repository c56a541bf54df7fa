//! Locks, atomics and per-thread state: one interface over std, spin locks or critical sections.
//!
//! Every build has the same items:
//!
//! | Name | Meaning |
//! |---|---|
//! | [`Mutex`] | exclusive access; never poisoned; must not be locked again by its holder |
//! | [`Lock`] | a mutex for values with interior mutability: it gives shared access, which takes less flash |
//! | [`ObjectMutex`] | a mutex as part of an object |
//! | [`atomic`] | atomic types; code for cores without read-modify-write instructions uses [`exchange`] only |
//! | [`is_single_threaded`] | whether the process certainly has no other threads |
//! | [`critical`] | runs a few instructions under one lock of the whole crate |
//! | [`pause`], [`current_thread`] | waiting for another thread; identity of the current thread |
//! | [`per_thread`] | thread-local state |
//! | `fork` | holds the locks across forks, on hosts |
//!
//! `Mutex::with_mut` and `Lock::with` call a closure with the value. Builds with `std`, with
//! `spin`, and for systems without interrupts have `Mutex::lock`, too, whose guard holds the lock
//! until it is dropped; with masked interrupts no guard is sound.
//!
//! No lock may be held while a user callback runs. Bare-metal builds without `spin` mask interrupts
//! while a lock is held, through the `critical-section` crate, so tables may be used from interrupt
//! handlers; the time under a lock is bounded by the sizes of the tables and of the pool. These
//! builds are for one core, whose memory accesses need no barriers. With `spin` several cores may
//! share the tables, but an interrupt handler must not use them.

#[cfg(feature = "std")]
mod across_fork;
pub mod atomic;
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
mod closures;
#[cfg(feature = "std")]
pub mod fork;
#[cfg(feature = "std")]
mod object_mutex;
pub mod per_thread;
#[cfg(any(target_has_atomic = "64", feature = "std"))]
pub mod single_instruction;
mod single_threaded;

#[cfg(feature = "std")]
#[path = "std.rs"]
mod imp;
#[cfg(all(not(feature = "std"), feature = "spin"))]
#[path = "spin.rs"]
mod imp;
#[cfg(all(not(feature = "std"), not(feature = "spin"), target_os = "none"))]
#[path = "masked.rs"]
mod imp;
#[cfg(all(not(feature = "std"), not(feature = "spin"), not(target_os = "none")))]
#[path = "flag.rs"]
mod imp;

pub use atomic::exchange;
#[cfg(all(feature = "std", not(feature = "client")))]
pub(crate) use imp::CRITICAL;
#[cfg(not(feature = "std"))]
pub use imp::Mutex as ObjectMutex;
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
pub use imp::MutexGuard;
pub use imp::{Lock, Mutex, critical, current_thread, pause};
#[cfg(all(feature = "std", not(feature = "client")))]
pub(crate) use object_mutex::OBJECT_LOCKS;
#[cfg(feature = "std")]
pub use object_mutex::{ObjectMutex, ObjectMutexGuard};
pub use single_threaded::{find_thread_flag, is_single_threaded};

/// Declares a constructor that is `const`, for use in statics. The constructor of the model
/// checker's version is not `const`.
#[cfg(not(feature = "client"))]
macro_rules! const_new {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis const fn $($rest)* };
}
#[cfg(not(feature = "client"))]
pub(crate) use const_new;

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::AtomicPtr;

    #[test]
    fn a_mutex_admits_one_thread_at_a_time() {
        static COUNT: Mutex<usize> = Mutex::new(0);
        let rounds = if cfg!(miri) { 50 } else { 5_000 };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..rounds).for_each(|_| *COUNT.lock() += 1));
            }
        });
        assert_eq!(*COUNT.lock(), 4 * rounds);
    }

    /// Compiles only while the guard of a value that is not `Sync` is not `Sync` either.
    #[test]
    fn a_guard_is_shared_only_where_its_value_may_be() {
        trait Name<Reason> {
            fn name() -> &'static str {
                core::any::type_name::<Self>()
            }
        }
        struct Shared;
        impl<T> Name<()> for T {}
        impl<T: Sync> Name<Shared> for T {}
        // With one applicable implementation the type is inferred; with both it is ambiguous.
        let name = <MutexGuard<'_, core::cell::Cell<usize>> as Name<_>>::name();
        assert!(name.contains("Guard"));
        fn shared<T: Sync>() {}
        shared::<MutexGuard<'_, usize>>();
    }

    #[test]
    fn a_panicking_holder_leaves_the_mutex_usable() {
        static COUNT: Mutex<usize> = Mutex::new(0);
        let holder = std::thread::spawn(|| {
            *COUNT.lock() += 1;
            let _guard = COUNT.lock();
            std::panic::resume_unwind(std::boxed::Box::new(()));
        });
        assert!(holder.join().is_err());
        assert_eq!(*COUNT.lock(), 1);
    }

    #[test]
    fn an_exchange_gives_the_old_pointer() {
        let (mut first, mut second) = (1, 2);
        let place = AtomicPtr::new(&raw mut first);
        assert_eq!(exchange(&place, &raw mut second), &raw mut first);
        assert_eq!(place.load(atomic::Ordering::Relaxed), &raw mut second);
    }

    #[test]
    fn critical_gives_the_value_of_its_body() {
        assert_eq!(critical(|| 7), 7);
    }
}

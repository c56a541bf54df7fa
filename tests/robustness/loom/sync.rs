//! Substitute for the core's `sync` module, with loom's types.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;

pub use loom::sync::MutexGuard;

pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
}

#[path = "../../../core/src/platform/sync/single_instruction/bare.rs"]
pub mod single_instruction;

#[path = "../../../core/src/platform/sync/single_threaded/bare.rs"]
mod single_threaded;
pub use single_threaded::is_single_threaded;

pub use self::Mutex as Lock;

pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }

    pub fn with<R>(&self, body: impl FnOnce(&T) -> R) -> R {
        body(&self.lock())
    }

    pub fn with_mut<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        body(&mut self.lock())
    }
}

loom::lazy_static! {
    static ref CRITICAL: Mutex<()> = Mutex::new(());
}

pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    let _guard = CRITICAL.lock();
    body()
}

pub fn pause(_round: u32) {
    loom::thread::yield_now();
}

pub fn current_thread() -> Option<NonZeroUsize> {
    let mut hasher = DefaultHasher::new();
    loom::thread::current().id().hash(&mut hasher);
    NonZeroUsize::new(hasher.finish() as usize)
}

/// Defines a `const fn` of the core as a non-constant function, since loom's atomics have no
/// constant constructors.
macro_rules! const_new {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis fn $($rest)* };
}
pub(crate) use const_new;

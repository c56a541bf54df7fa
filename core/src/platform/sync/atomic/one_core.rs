//! Atomic types for single-core microcontrollers. Only interrupts and tasks of the same core
//! observe memory, in program order, so compiler fences suffice and no barrier instructions are
//! emitted.

use core::sync::atomic::{self as native, Ordering::Relaxed, compiler_fence};

pub use core::sync::atomic::Ordering;

/// Emits a compiler fence, unless `order` is relaxed.
#[inline(always)]
fn fence(order: Ordering) {
    if order != Relaxed {
        compiler_fence(Ordering::SeqCst);
    }
}

/// Runs a memory access between two compiler fences.
#[inline(always)]
fn ordered<R>(order: Ordering, access: impl FnOnce() -> R) -> R {
    fence(order);
    let outcome = access();
    fence(order);
    outcome
}

macro_rules! atomic {
    ($(#[$meta:meta])* $name:ident $(<$parameter:ident>)?, $value:ty) => {
        $(#[$meta])*
        #[repr(transparent)]
        pub struct $name $(<$parameter>)? (native::$name $(<$parameter>)?);

        #[allow(missing_docs, reason = "as those of core")]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            #[inline(always)]
            pub const fn new(value: $value) -> Self {
                Self(native::$name::new(value))
            }

            /// Borrows the atomic at an address.
            ///
            /// # Safety
            /// Same requirements as the method of `core`'s type.
            #[inline(always)]
            pub const unsafe fn from_ptr<'a>(place: *mut $value) -> &'a Self {
                // SAFETY: the caller's promise; the type is transparent over a type of the same
                // layout as its value.
                unsafe { &*place.cast() }
            }

            #[inline(always)]
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                ordered(order, || self.0.load(Relaxed))
            }

            #[inline(always)]
            pub fn store(&self, value: $value, order: Ordering) {
                ordered(order, || self.0.store(value, Relaxed));
            }
        }

        /// Read-modify-write operations, on cores with compare-and-swap.
        #[cfg(target_has_atomic = "ptr")]
        #[allow(missing_docs, clippy::missing_errors_doc, reason = "as those of core")]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            #[inline(always)]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.swap(value, Relaxed))
            }

            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                _failure: Ordering,
            ) -> Result<$value, $value> {
                ordered(success, || self.0.compare_exchange(current, new, Relaxed, Relaxed))
            }

            #[inline(always)]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                _failure: Ordering,
            ) -> Result<$value, $value> {
                ordered(success, || self.0.compare_exchange_weak(current, new, Relaxed, Relaxed))
            }
        }
    };
}

macro_rules! atomic_number {
    ($(#[$meta:meta])* $name:ident, $value:ty) => {
        atomic!($(#[$meta])* $name, $value);

        #[cfg(target_has_atomic = "ptr")]
        #[allow(missing_docs, reason = "as those of core")]
        impl $name {
            #[inline(always)]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.fetch_add(value, Relaxed))
            }

            #[inline(always)]
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.fetch_sub(value, Relaxed))
            }
        }
    };
}

atomic!(
    /// An atomic pointer.
    AtomicPtr<T>, *mut T
);
atomic!(
    /// An atomic boolean.
    AtomicBool, bool
);
atomic_number!(
    /// An atomic signed integer.
    AtomicI32, i32
);
atomic_number!(
    /// An atomic unsigned integer.
    AtomicU32, u32
);
atomic_number!(
    /// An atomic pointer-sized integer.
    AtomicUsize, usize
);

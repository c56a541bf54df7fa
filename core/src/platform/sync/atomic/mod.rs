//! Atomic types, without memory barriers on single-core microcontrollers, and an atomic exchange
//! that is also available on cores without read-modify-write instructions.

#[cfg(not(all(target_os = "none", not(feature = "std"), not(feature = "spin"))))]
mod several_cores {
    pub use core::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
    };

    #[cfg(target_has_atomic = "64")]
    pub use core::sync::atomic::AtomicU64;
}
#[cfg(not(all(target_os = "none", not(feature = "std"), not(feature = "spin"))))]
pub use several_cores::*;

#[cfg(all(target_os = "none", not(feature = "std"), not(feature = "spin")))]
mod one_core;
#[cfg(all(target_os = "none", not(feature = "std"), not(feature = "spin")))]
pub use one_core::*;

#[cfg(target_has_atomic = "ptr")]
mod native {
    use super::{AtomicPtr, Ordering};

    /// Stores `new` in `place` and returns the previous pointer, atomically and with acquire and
    /// release ordering.
    pub fn exchange<T>(place: &AtomicPtr<T>, new: *mut T) -> *mut T {
        place.swap(new, Ordering::AcqRel)
    }

    /// Stores `new` in `place` and returns the previous pointer with relaxed ordering, for programs
    /// on one core whose only concurrency is interrupts.
    #[inline]
    pub fn exchange_relaxed<T>(place: &AtomicPtr<T>, new: *mut T) -> *mut T {
        place.swap(new, Ordering::Relaxed)
    }
}
#[cfg(target_has_atomic = "ptr")]
pub use native::{exchange, exchange_relaxed};

#[cfg(not(target_has_atomic = "ptr"))]
mod masked {
    use super::{AtomicPtr, Ordering};
    use crate::platform::sync::critical;

    /// Stores `new` in `place` and returns the previous pointer. Atomic with respect to other calls
    /// of this function.
    pub fn exchange<T>(place: &AtomicPtr<T>, new: *mut T) -> *mut T {
        critical(|| {
            let old = place.load(Ordering::Acquire);
            place.store(new, Ordering::Release);
            old
        })
    }
}
#[cfg(not(target_has_atomic = "ptr"))]
pub use masked::{exchange, exchange as exchange_relaxed};

/// Returns the part of a 64-bit size field that a `usize` fills, for reads of the size while
/// another thread changes the object. The other half, on 32-bit targets, is zero in every valid
/// size.
///
/// # Safety
/// `field` must be a size field, signed or not, of an object that is live for `'a`, and aligned.
/// While threads share the object, Rust code accesses the field through this function only.
#[inline(always)]
pub unsafe fn size_word<'a>(field: *mut i64) -> &'a AtomicUsize {
    let offset =
        if cfg!(target_endian = "big") { size_of::<i64>() - size_of::<usize>() } else { 0 };
    // SAFETY: the caller guarantees the field, in which the word lies.
    unsafe { AtomicUsize::from_ptr(field.byte_add(offset).cast()) }
}

//! The state word of a borrow: changes of it that succeed or fail at once.

use crate::abi::TVMFFIObject;

/// State of an object that is borrowed exclusively. States up to [`MOST_SHARED`] are numbers of
/// shared borrows.
const EXCLUSIVE: u32 = u32::MAX;
/// State of a tensor whose borrows are recorded in the object that owns its memory. It never
/// changes.
pub const FORWARDED: u32 = EXCLUSIVE - 1;
/// Largest number of shared borrows, far from the other states. Safe code reaches it by leaking
/// guards.
pub const MOST_SHARED: u32 = 1 << 31;

#[cfg(target_has_atomic = "32")]
pub use atomic::*;
#[cfg(not(target_has_atomic = "32"))]
pub use masked::*;

// Both implementations are compiled for the tests, which run one body over them.
#[cfg(any(target_has_atomic = "32", test))]
mod atomic {
    use super::{EXCLUSIVE, FORWARDED, MOST_SHARED, TVMFFIObject};
    use crate::platform::sync::atomic::{AtomicU32, Ordering};
    use crate::platform::sync::is_single_threaded;

    /// Returns the state word of an object.
    ///
    /// # Safety
    /// `object` must be live for `'a`.
    #[inline]
    unsafe fn word<'a>(object: *mut TVMFFIObject) -> &'a AtomicU32 {
        // SAFETY: the word is aligned, lives as long as the object, and is only accessed here.
        unsafe { AtomicU32::from_ptr(&raw mut (*object).padding) }
    }

    /// Adds a shared borrow unless the object is borrowed exclusively. Returns `true` if it was
    /// added. Later accesses happen after those of earlier exclusive borrows.
    ///
    /// A process with one thread does it without locked instructions. Signal handlers end their
    /// borrows before they return, so they leave the state as they find it.
    ///
    /// # Safety
    /// `object` must be live.
    #[inline]
    pub unsafe fn share(object: *mut TVMFFIObject) -> bool {
        // SAFETY: the caller guarantees the object.
        let word = unsafe { word(object) };
        let mut seen = word.load(Ordering::Relaxed);
        while seen < MOST_SHARED {
            if is_single_threaded() {
                word.store(seen + 1, Ordering::Relaxed);
                return true;
            }
            match word.compare_exchange_weak(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Returns `true` if [`share`] would add a borrow.
    ///
    /// # Safety
    /// `object` must be live.
    #[inline]
    pub unsafe fn is_shareable(object: *mut TVMFFIObject) -> bool {
        // SAFETY: the caller guarantees the object.
        unsafe { word(object) }.load(Ordering::Relaxed) < MOST_SHARED
    }

    /// Returns `true` if the object is a view, whose borrows are in the word of another tensor.
    ///
    /// # Safety
    /// `object` must be live.
    #[inline]
    pub unsafe fn is_forwarded(object: *mut TVMFFIObject) -> bool {
        // SAFETY: the caller guarantees the object.
        unsafe { word(object) }.load(Ordering::Relaxed) == FORWARDED
    }

    /// Removes a shared borrow.
    ///
    /// # Safety
    /// `object` must be live, and the caller must have a shared borrow.
    #[inline]
    pub unsafe fn unshare(object: *mut TVMFFIObject) {
        // SAFETY: the caller guarantees the object.
        let word = unsafe { word(object) };
        if is_single_threaded() {
            word.store(word.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
        } else {
            word.fetch_sub(1, Ordering::Release);
        }
    }

    /// Converts the caller's `shared` shared borrows to the exclusive borrow if the object has no
    /// other borrows. Returns `true` on success. Later accesses happen after those of all earlier
    /// borrows.
    ///
    /// # Safety
    /// `object` must be live, and the caller must have `shared` shared borrows.
    #[inline]
    pub unsafe fn claim(object: *mut TVMFFIObject, shared: u32) -> bool {
        // SAFETY: the caller guarantees the object.
        let word = unsafe { word(object) };
        if is_single_threaded() {
            let is_free = word.load(Ordering::Relaxed) == shared;
            if is_free {
                word.store(EXCLUSIVE, Ordering::Relaxed);
            }
            return is_free;
        }
        word.compare_exchange(shared, EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Converts the exclusive borrow to `shared` shared borrows; 0 ends it.
    ///
    /// # Safety
    /// `object` must be live, and the caller must have the exclusive borrow.
    #[inline]
    pub unsafe fn unclaim(object: *mut TVMFFIObject, shared: u32) {
        // SAFETY: the caller guarantees the object.
        unsafe { word(object) }.store(shared, Ordering::Release);
    }
}

#[cfg(any(not(target_has_atomic = "32"), test))]
mod masked {
    use super::{EXCLUSIVE, FORWARDED, MOST_SHARED, TVMFFIObject};
    use crate::platform::sync::critical;

    /// Replaces the state `seen` of an object by `next(seen)`, in a critical section, unless that
    /// is `None`. Returns `true` if it was replaced.
    ///
    /// # Safety
    /// `object` must be live.
    #[inline(never)]
    unsafe fn update(object: *mut TVMFFIObject, next: impl FnOnce(u32) -> Option<u32>) -> bool {
        critical(|| {
            // SAFETY: the caller guarantees the object; the critical section excludes other
            // accesses of the word.
            unsafe {
                let state = &raw mut (*object).padding;
                next(state.read()).map(|new| state.write(new)).is_some()
            }
        })
    }

    /// Adds a shared borrow unless the object is borrowed exclusively. Returns `true` if it was
    /// added.
    ///
    /// # Safety
    /// `object` must be live.
    pub unsafe fn share(object: *mut TVMFFIObject) -> bool {
        // SAFETY: the caller guarantees the object.
        unsafe { update(object, |seen| (seen < MOST_SHARED).then(|| seen + 1)) }
    }

    /// Returns `true` if [`share`] would add a borrow.
    ///
    /// # Safety
    /// `object` must be live.
    pub unsafe fn is_shareable(object: *mut TVMFFIObject) -> bool {
        // SAFETY: the caller guarantees the object.
        unsafe { update(object, |seen| (seen < MOST_SHARED).then_some(seen)) }
    }

    /// Returns `true` if the object is a view, whose borrows are in the word of another tensor.
    ///
    /// # Safety
    /// `object` must be live.
    pub unsafe fn is_forwarded(object: *mut TVMFFIObject) -> bool {
        // SAFETY: the word is aligned and lives as long as the object. Interrupt handlers change it
        // as a whole.
        unsafe { (&raw const (*object).padding).read_volatile() == FORWARDED }
    }

    /// Removes a shared borrow.
    ///
    /// # Safety
    /// `object` must be live, and the caller must have a shared borrow.
    pub unsafe fn unshare(object: *mut TVMFFIObject) {
        // SAFETY: the caller guarantees the object.
        unsafe { update(object, |seen| Some(seen.wrapping_sub(1))) };
    }

    /// Converts the caller's `shared` shared borrows to the exclusive borrow if the object has no
    /// other borrows. Returns `true` on success.
    ///
    /// # Safety
    /// `object` must be live, and the caller must have `shared` shared borrows.
    pub unsafe fn claim(object: *mut TVMFFIObject, shared: u32) -> bool {
        // SAFETY: the caller guarantees the object.
        unsafe { update(object, |seen| (seen == shared).then_some(EXCLUSIVE)) }
    }

    /// Converts the exclusive borrow to `shared` shared borrows; 0 ends it.
    ///
    /// # Safety
    /// `object` must be live, and the caller must have the exclusive borrow.
    pub unsafe fn unclaim(object: *mut TVMFFIObject, shared: u32) {
        // SAFETY: the caller guarantees the object.
        unsafe { update(object, |_| Some(shared)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyCompatible;
    use crate::object::ObjectRef;
    use crate::value::shape::Shape;

    fn object() -> ObjectRef {
        Shape::from_slice(&[1]).expect("a shape").into_any().as_object().expect("an object").clone()
    }

    macro_rules! states {
        ($implementation:ident) => {{
            use super::$implementation::{
                claim, is_forwarded, is_shareable, share, unclaim, unshare,
            };
            let object = object();
            let at = object.as_ptr();
            // SAFETY: the object is live, and borrows end once each.
            unsafe {
                assert!(share(at) && share(at) && !claim(at, 0) && !claim(at, 1));
                unshare(at);
                assert!(
                    is_shareable(at)
                        && claim(at, 1)
                        && !share(at)
                        && !is_shareable(at)
                        && !claim(at, 0)
                );
                unclaim(at, 1);
                assert!(share(at) && !claim(at, 0));
                unshare(at);
                unshare(at);
                assert!(claim(at, 0));
                unclaim(at, 0);
                (*at).padding = MOST_SHARED;
                assert!(!share(at) && !claim(at, 0) && !is_forwarded(at));
                (*at).padding = FORWARDED;
                assert!(!share(at) && !claim(at, 0) && is_forwarded(at));
                (*at).padding = 0;
            }
        }};
    }

    #[test]
    fn there_are_many_shared_borrows_or_one_exclusive() {
        states!(atomic);
        states!(masked);
    }
}

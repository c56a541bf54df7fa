//! Destruction of objects by an iterative loop over a queue, so that the recursion depth does not
//! depend on the data.
//!
//! Releasing the last reference to an array releases its elements, and so on. Up to a fixed depth,
//! hosts destroy objects immediately, while their content is still in the cache. Deeper objects go
//! to the thread's queue, linked through their own count words, which are no longer in use. The
//! outermost release drains the queue.

mod deleter;
#[cfg_attr(feature = "client", path = "client.rs")]
mod destroy;

use core::ffi::c_int;
use core::hint::black_box;

use crate::abi::{
    TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskStrong, kTVMFFIObjectDeleterFlagBitMaskWeak,
};
use crate::object::refcount::{self, Release};
use crate::platform::sync::is_single_threaded;
use deleter::call_deleter;
use destroy::{defer, destroy, destroy_single_threaded};

/// Releases one strong reference. If it was the last, the object is destroyed on this thread before
/// the thread's outermost release returns.
///
/// Objects that still have weak references are destroyed immediately: their count word is in use
/// and cannot link them.
///
/// # Safety
/// `object` must be live, and the caller transfers one strong reference to it.
///
/// # Upstream
/// `Object::DecRef` in `object.h`, which recurses.
pub unsafe fn release_object(object: *mut TVMFFIObject) {
    // SAFETY: the caller transfers the reference; only one of the two calls releases it.
    unsafe {
        if !refcount::try_release_shared(object) {
            release_slow(object);
        }
    }
}

/// The slow path of [`release_object`], for references that may be the last. All callers share one
/// copy.
///
/// # Safety
/// Same requirements as [`release_object`].
#[inline(never)]
unsafe fn release_slow(object: *mut TVMFFIObject) {
    // SAFETY: the caller transfers the reference.
    match unsafe { refcount::release(object) } {
        Release::Alive => {}
        // SAFETY: the caller's promise.
        outcome => unsafe { finish_release(object, outcome) },
    }
}

/// Releases one strong reference like [`release_object`]. Inlined into C symbols, whose callers may
/// count one object on several threads concurrently. Returns 0, the status of a C symbol.
///
/// # Safety
/// Same requirements as [`release_object`].
#[inline(always)]
pub unsafe fn release_inline(object: *mut TVMFFIObject) -> c_int {
    let single_threaded = is_single_threaded();
    // SAFETY: the caller transfers the reference, and the outcome says that this thread owns the
    // object exclusively.
    unsafe {
        match refcount::release_contended(object, single_threaded) {
            Release::Alive => {}
            Release::Both if single_threaded => destroy_single_threaded(object),
            outcome if TAIL_CALLS => return finish_release_tail(object, outcome),
            outcome => finish_release(object, outcome),
        }
    }
    0
}

/// Releases one strong reference to an object that other objects use until they are destroyed. If
/// it was the last reference and this thread is destroying another object, the object is queued and
/// destroyed after all objects that are released later in that destruction.
///
/// # Safety
/// Same requirements as [`release_object`].
pub unsafe fn release_deferred(object: *mut TVMFFIObject) {
    if !cfg!(feature = "speed") {
        // Size-optimised builds queue every nested destruction, and destroy the most recently
        // released object first.
        // SAFETY: the caller transfers the reference.
        return unsafe { release_object(object) };
    }
    // SAFETY: the caller transfers the reference, and the outcome says that this thread owns the
    // object exclusively.
    unsafe {
        match refcount::release(object) {
            Release::Alive => {}
            Release::Both if defer(object) => {}
            outcome => finish_release(object, outcome),
        }
    }
}

/// Whether C symbols end in tail calls, so that counting references needs no stack frame.
/// Size-optimised builds use ordinary calls.
const TAIL_CALLS: bool = cfg!(feature = "speed");

/// Calls [`finish_release`] and returns 0. The compiler cannot see that the result is always 0, so
/// callers tail-call this function and need no stack frame.
///
/// # Safety
/// Same requirements as [`finish_release`].
#[inline(never)]
unsafe fn finish_release_tail(object: *mut TVMFFIObject, outcome: Release) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { finish_release(object, outcome) };
    black_box(0)
}

/// Destroys an object after its last strong reference was released. Out of line, so that
/// [`release_object`] needs no stack frame.
///
/// # Safety
/// `outcome` must be the result of releasing that reference.
#[inline(never)]
unsafe fn finish_release(object: *mut TVMFFIObject, outcome: Release) {
    // SAFETY: the outcome says that this thread owns the object exclusively.
    unsafe {
        match outcome {
            Release::Alive => {}
            Release::Both if is_single_threaded() => destroy_single_threaded(object),
            Release::Both => destroy(object),
            Release::StrongOnly => {
                call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskStrong);
                release_weak(object);
            }
        }
    }
}

/// Releases one weak reference, and frees the memory if it was the last reference of either kind.
///
/// # Safety
/// The caller transfers a weak reference.
pub unsafe fn release_weak(object: *mut TVMFFIObject) {
    // SAFETY: the caller transfers the weak reference; the last one owns the memory.
    unsafe {
        if refcount::release_weak(object) {
            call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskWeak);
        }
    }
}

//! How objects are destroyed: in a loop, never by recursion whose depth depends on the data.
//!
//! Releasing the last reference to an array releases its elements, and so on down. A few levels of that end at once, on
//! hosts, while what they hold is still in the cache. An object further down is put on the thread's queue instead, linked
//! through its own count word, which nobody reads any more. The outermost release empties the queue.

use core::ffi::c_int;
use core::hint::black_box;
#[cfg(not(feature = "client"))]
use core::ptr;

use crate::abi::{
    TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskBoth, kTVMFFIObjectDeleterFlagBitMaskStrong,
    kTVMFFIObjectDeleterFlagBitMaskWeak,
};
use crate::refcount::{self, Release};
use crate::sync::is_single_threaded;
#[cfg(not(feature = "client"))]
use crate::sync::per_thread::{self, Dying, Queue};
#[cfg(all(feature = "speed", not(feature = "client")))]
use crate::type_index;

/// Gives up one strong reference. Destroys the object when it was the last, on this thread, before the outermost
/// release of the thread returns.
///
/// Objects that still have weak references when the last strong one goes are destroyed at once: their count word is in
/// use and cannot link them.
///
/// # Safety
/// `object` must be live, and the caller gives up one strong reference to it.
///
/// # Upstream
/// `Object::DecRef` in `object.h`, which recurses.
#[cfg_attr(not(feature = "speed"), inline(never))]
pub unsafe fn release_object(object: *mut TVMFFIObject) {
    // SAFETY: the caller gives up the reference, once: here or there.
    unsafe {
        if !refcount::try_release_shared(object) {
            release_slow(object);
        }
    }
}

/// As [`release_object`], where more is to be done than to count down: once for all who release.
///
/// # Safety
/// As [`release_object`].
#[cfg_attr(feature = "speed", inline(never))]
#[cfg_attr(not(feature = "speed"), inline(always))]
unsafe fn release_slow(object: *mut TVMFFIObject) {
    // SAFETY: the caller gives up the reference.
    match unsafe { refcount::release(object) } {
        Release::Alive => {}
        // SAFETY: the caller's promise.
        outcome => unsafe { finish_release(object, outcome) },
    }
}

/// Gives up one strong reference as [`release_object`] does, inlined and for clients, whose threads may count one
/// object at once. Returns 0, the status of a C symbol.
///
/// # Safety
/// As [`release_object`].
#[inline(always)]
pub unsafe fn release_inline(object: *mut TVMFFIObject) -> c_int {
    let alone = is_single_threaded();
    // SAFETY: the caller gives up the reference, and the outcome says that this thread alone owns the object.
    unsafe {
        match refcount::release_contended(object, alone) {
            Release::Alive => {}
            Release::Both if alone => destroy_single_threaded(object),
            outcome if TAIL_CALLS => return finish_release_tail(object, outcome),
            outcome => finish_release(object, outcome),
        }
    }
    0
}

/// As [`release_object`], for what others need until their end: an object that dies here, inside a destruction of this thread,
/// is destroyed after all that dies there by later releases.
///
/// # Safety
/// As [`release_object`].
#[cfg(all(feature = "speed", not(feature = "client")))]
pub unsafe fn release_deferred(object: *mut TVMFFIObject) {
    // SAFETY: the caller gives up the reference, and the outcome says that this thread alone owns the object.
    unsafe {
        match refcount::release(object) {
            Release::Alive => {}
            Release::Both if defer(object) => {}
            outcome => finish_release(object, outcome),
        }
    }
}

/// Where size counts, nothing dies inside a destruction, and what was released first dies last.
#[cfg(not(all(feature = "speed", not(feature = "client"))))]
pub use release_object as release_deferred;

/// Queues a dead object, when this thread is destroying another. The first of the queue is the last to leave it.
#[cfg(all(feature = "speed", not(feature = "client")))]
fn defer(object: *mut TVMFFIObject) -> bool {
    let queue = if is_single_threaded() { per_thread::dying_single_threaded() } else { per_thread::dying() };
    queue.with(|dying| {
        let inside = !dying.get().is_null();
        if inside {
            push(dying, object);
        }
        inside
    })
}

/// Whether what C calls ends in jumps, so that counts need no stack frame: not where size counts.
const TAIL_CALLS: bool = cfg!(feature = "speed");

/// As [`finish_release`]. Gives 0, kept opaque to the compiler, so that its callers jump here and need no stack frame.
///
/// # Safety
/// As [`finish_release`].
#[inline(never)]
unsafe fn finish_release_tail(object: *mut TVMFFIObject, outcome: Release) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { finish_release(object, outcome) };
    black_box(0)
}

/// Ends an object whose last strong reference went. Apart from [`release_object`], which then needs no stack frame.
///
/// # Safety
/// `outcome` is what giving up that reference told.
#[inline(never)]
unsafe fn finish_release(object: *mut TVMFFIObject, outcome: Release) {
    // SAFETY: the outcome says that this thread alone owns the object.
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

/// Gives up one weak reference, freeing the memory when it was the last of either kind.
///
/// # Safety
/// The caller must own a weak reference, and gives it up.
pub unsafe fn release_weak(object: *mut TVMFFIObject) {
    // SAFETY: the caller owns the weak reference; the last one owns the memory.
    unsafe {
        if refcount::release_weak(object) {
            call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskWeak);
        }
    }
}

/// Destroys a dead object. The loaded `libtvm_ffi`, which made most of them, has the queue.
///
/// # Safety
/// No reference to `object` may be left.
#[cfg(feature = "client")]
unsafe fn destroy(object: *mut TVMFFIObject) {
    // SAFETY: no reference is left.
    unsafe { call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth) };
}
#[cfg(feature = "client")]
use destroy as destroy_single_threaded;

/// Destroys a dead object, or queues it when too many destructions are under way on this thread.
///
/// # Safety
/// No reference to `object` may be left.
#[cfg(not(feature = "client"))]
#[inline(always)]
unsafe fn destroy(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { destroy_or_queue(object, per_thread::dying) };
}

/// As [`destroy`], in a process with one thread. Cold, so that in [`release_inline`] what only counts falls through.
///
/// # Safety
/// As [`destroy`], and the thread is the only one.
#[cfg(not(feature = "client"))]
#[cold]
#[inline(never)]
unsafe fn destroy_single_threaded(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { destroy_or_queue(object, per_thread::dying_single_threaded) };
}

/// As [`destroy`], with the queue of this thread.
///
/// # Safety
/// As [`destroy`].
#[cfg(not(feature = "client"))]
#[inline(always)]
unsafe fn destroy_or_queue(object: *mut TVMFFIObject, queue: impl FnOnce() -> Queue) {
    // SAFETY: the object is dead but not destroyed: its header is readable. No reference is left.
    unsafe {
        if is_leaf((*object).type_index) {
            call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth);
        } else {
            destroy_nested(object, queue);
        }
    }
}

/// As [`destroy`], for an object that may hold others. Apart, since those that hold none need no stack frame.
///
/// # Safety
/// As [`destroy`].
#[cfg(not(feature = "client"))]
#[cfg_attr(feature = "speed", inline(never))]
unsafe fn destroy_nested(object: *mut TVMFFIObject, queue: impl FnOnce() -> Queue) {
    // It is lent for moments only: without std it is behind a lock, and deleters are code of users.
    let queue = queue();
    let depth = queue.with(|dying| enter(dying, object));
    if depth == QUEUED {
        return;
    }
    // SAFETY: no reference is left; the queue gives objects to the outermost destruction only.
    unsafe {
        if !TAIL_CALLS {
            return destroy_queued(queue, object, depth);
        }
        call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth);
        let next = queue.with(|dying| leave(dying, depth));
        if !next.is_null() {
            destroy_queued(queue, next, 1);
        }
    }
}

/// Destroys an object whose destruction was started at a depth, and all that the queue gives then.
///
/// # Safety
/// The object is dead, and the caller's.
#[cfg(not(feature = "client"))]
#[cfg_attr(feature = "speed", cold, inline(never))]
unsafe fn destroy_queued(queue: Queue, mut next: *mut TVMFFIObject, depth: usize) {
    while !next.is_null() {
        // SAFETY: each queued object is dead, and nobody else destroys it.
        unsafe { call_deleter(next, kTVMFFIObjectDeleterFlagBitMaskBoth) };
        next = queue.with(|dying| leave(dying, depth));
    }
}

/// Destructions inside each other that may be under way without a queue: few stacks are too small for them, and few clients
/// nest deeper, whose deleters may count on the end of what they released. Where size counts, there is none inside another.
#[cfg(not(feature = "client"))]
const MAX_DEPTH: usize = if cfg!(feature = "speed") { 32 } else { 1 };

/// The depth of an object that waits for others.
#[cfg(not(feature = "client"))]
const QUEUED: usize = 0;

/// What stands for a queue without objects while so many destructions are under way; no object is there.
#[cfg(not(feature = "client"))]
const fn empty_at(depth: usize) -> *mut TVMFFIObject {
    ptr::without_provenance_mut(depth)
}

/// Starts a destruction and answers how many are under way then; or queues the object.
#[cfg(not(feature = "client"))]
fn enter(dying: &Dying, object: *mut TVMFFIObject) -> usize {
    let first = dying.get();
    // Once there is a queue, all that dies goes there.
    if first.addr() < MAX_DEPTH {
        let depth = first.addr() + 1;
        dying.set(empty_at(depth));
        return depth;
    }
    push(dying, object);
    QUEUED
}

/// Queues a dead object; destructions are under way.
#[cfg(not(feature = "client"))]
fn push(dying: &Dying, object: *mut TVMFFIObject) {
    let first = dying.get();
    // When the queue is empty again, only the outermost destruction will be under way.
    let rest = if first.addr() <= MAX_DEPTH { empty_at(1) } else { first };
    // SAFETY: the count word of a dead object is ours; it is 8 bytes, 8-aligned, room for a pointer.
    unsafe { link_of(object).write(rest) };
    dying.set(object);
}

/// Ends a destruction at a depth. The outermost one goes on with an object of the queue; null when there is none.
#[cfg(not(feature = "client"))]
fn leave(dying: &Dying, depth: usize) -> *mut TVMFFIObject {
    let object = dying.get();
    if object.addr() <= MAX_DEPTH {
        dying.set(empty_at(depth - 1));
        return ptr::null_mut();
    }
    if depth > 1 {
        return ptr::null_mut();
    }
    // SAFETY: `enter` linked the object. Its count is set back to what deleters find: no strong reference.
    unsafe {
        dying.set(link_of(object).read());
        (*object).combined_ref_count = refcount::INITIAL - 1;
    }
    object
}

#[cfg(not(feature = "client"))]
fn link_of(object: *mut TVMFFIObject) -> *mut *mut TVMFFIObject {
    // SAFETY: taking the address of a field of a live allocation.
    unsafe { (&raw mut (*object).combined_ref_count).cast() }
}

/// Whether objects of this built-in type hold no references to others, so that destroying them cannot nest.
#[cfg(all(feature = "speed", not(feature = "client")))]
fn is_leaf(index: i32) -> bool {
    matches!(index, type_index::STR | type_index::BYTES | type_index::SHAPE | type_index::BIG_INT)
}

/// Not asked for where size counts.
#[cfg(not(any(feature = "speed", feature = "client")))]
fn is_leaf(_: i32) -> bool {
    false
}

/// # Safety
/// The object must be in the state that `flags` announces, and the caller must own it.
unsafe fn call_deleter(object: *mut TVMFFIObject, flags: c_int) {
    // SAFETY: the header is readable until the deleter frees the memory; the slot holds a function or null (ABI).
    unsafe {
        if let Some(deleter) = (*object).deleter.deleter {
            deleter(object.cast(), flags);
        }
    }
}

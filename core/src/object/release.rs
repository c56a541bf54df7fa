//! Destruction of objects by an iterative loop over a queue, so that the recursion depth does not
//! depend on the data.
//!
//! Releasing the last reference to an array releases its elements, and so on. Up to a fixed depth,
//! hosts destroy objects immediately, while their content is still in the cache. Deeper objects go
//! to the thread's queue, linked through their own count words, which are no longer in use. The
//! outermost release drains the queue.

use core::ffi::c_int;
use core::hint::black_box;
#[cfg(not(feature = "client"))]
use core::ptr;

#[cfg(all(feature = "speed", not(feature = "client")))]
use crate::abi::type_index;
use crate::abi::{
    TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskBoth, kTVMFFIObjectDeleterFlagBitMaskStrong,
    kTVMFFIObjectDeleterFlagBitMaskWeak,
};
use crate::object::refcount::{self, Release};
use crate::platform::sync::is_single_threaded;
#[cfg(not(feature = "client"))]
use crate::platform::sync::per_thread::{self, Dying, Queue};

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
#[cfg(all(feature = "speed", not(feature = "client")))]
pub unsafe fn release_deferred(object: *mut TVMFFIObject) {
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

/// Size-optimised builds queue every nested destruction, and destroy the most recently released
/// object first.
#[cfg(not(all(feature = "speed", not(feature = "client"))))]
pub use release_object as release_deferred;

/// Queues a dead object if this thread is destroying another one. Returns `true` if it was queued.
/// The queue is last in, first out.
#[cfg(all(feature = "speed", not(feature = "client")))]
fn defer(object: *mut TVMFFIObject) -> bool {
    let queue = if is_single_threaded() {
        per_thread::dying_single_threaded()
    } else {
        per_thread::dying()
    };
    queue.with(|dying| {
        let inside = !dying.get().is_null();
        if inside {
            push(dying, object);
        }
        inside
    })
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

/// Destroys a dead object in the loaded `libtvm_ffi`, which owns the queue and created most
/// objects.
///
/// # Safety
/// No reference to `object` may remain.
#[cfg(feature = "client")]
unsafe fn destroy(object: *mut TVMFFIObject) {
    // SAFETY: no reference remains.
    unsafe { call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth) };
}
#[cfg(feature = "client")]
use destroy as destroy_single_threaded;

/// Destroys a dead object, or queues it if destructions on this thread are nested too deep.
///
/// # Safety
/// No reference to `object` may remain.
#[cfg(not(feature = "client"))]
#[inline(always)]
unsafe fn destroy(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { destroy_or_queue(object, per_thread::dying) };
}

/// Destroys a dead object in a single-threaded process. Marked cold, so that [`release_inline`]
/// continues without a taken branch if the object stays alive.
///
/// # Safety
/// Same requirements as [`destroy`], and the process is single-threaded.
#[cfg(not(feature = "client"))]
#[cold]
#[inline(never)]
unsafe fn destroy_single_threaded(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { destroy_or_queue(object, per_thread::dying_single_threaded) };
}

/// Destroys a dead object, or adds it to `queue` if destructions are nested too deep.
///
/// # Safety
/// Same requirements as [`destroy`].
#[cfg(not(feature = "client"))]
#[inline(always)]
unsafe fn destroy_or_queue(object: *mut TVMFFIObject, queue: impl FnOnce() -> Queue) {
    // SAFETY: the object is dead but not destroyed: its header is readable. No reference remains.
    unsafe {
        if is_leaf((*object).type_index) {
            call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth);
        } else {
            destroy_nested(object, queue);
        }
    }
}

/// Destroys an object that may own other objects. Out of line, so that the destruction of leaf
/// objects needs no stack frame.
///
/// # Safety
/// Same requirements as [`destroy`].
#[cfg(not(feature = "client"))]
#[cfg_attr(feature = "speed", inline(never))]
unsafe fn destroy_nested(object: *mut TVMFFIObject, queue: impl FnOnce() -> Queue) {
    // Borrowed only briefly: without std the queue is behind a lock, and deleters are user
    // callbacks.
    let queue = queue();
    let depth = queue.with(|dying| enter(dying, object));
    if depth == QUEUED {
        return;
    }
    // SAFETY: no reference remains; only the outermost destruction takes objects from the queue.
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

/// Destroys an object that was entered at `depth`, and then all objects of the queue.
///
/// # Safety
/// The object must be dead, and owned by the caller.
#[cfg(not(feature = "client"))]
#[cfg_attr(feature = "speed", cold, inline(never))]
unsafe fn destroy_queued(queue: Queue, mut next: *mut TVMFFIObject, depth: usize) {
    while !next.is_null() {
        // SAFETY: each queued object is dead, and only this loop destroys it.
        unsafe { call_deleter(next, kTVMFFIObjectDeleterFlagBitMaskBoth) };
        next = queue.with(|dying| leave(dying, depth));
    }
}

/// Maximum depth of nested destructions; deeper objects are queued. Almost every stack has space
/// for this depth, and few clients nest deeper with deleters that rely on immediate destruction.
/// Size-optimised builds do not nest destructions.
#[cfg(not(feature = "client"))]
const MAX_DEPTH: usize = if cfg!(feature = "speed") { 32 } else { 1 };

/// Result of [`enter`] for a queued object, in place of a depth.
#[cfg(not(feature = "client"))]
const QUEUED: usize = 0;

/// Returns the representation of an empty queue while `depth` destructions are running; never the
/// address of an object.
#[cfg(not(feature = "client"))]
const fn empty_at(depth: usize) -> *mut TVMFFIObject {
    ptr::without_provenance_mut(depth)
}

/// Starts a destruction and returns its depth, or queues the object and returns [`QUEUED`].
#[cfg(not(feature = "client"))]
fn enter(dying: &Dying, object: *mut TVMFFIObject) -> usize {
    let first = dying.get();
    // Once the queue has objects, every dead object goes there.
    if first.addr() < MAX_DEPTH {
        let depth = first.addr() + 1;
        dying.set(empty_at(depth));
        return depth;
    }
    push(dying, object);
    QUEUED
}

/// Queues a dead object while destructions are running.
#[cfg(not(feature = "client"))]
fn push(dying: &Dying, object: *mut TVMFFIObject) {
    let first = dying.get();
    // When the queue is empty again, only the outermost destruction will be running.
    let rest = if first.addr() <= MAX_DEPTH { empty_at(1) } else { first };
    // SAFETY: the count word of a dead object is owned here; it is 8 bytes, 8-aligned, and can hold
    // a pointer.
    unsafe { link_of(object).write(rest) };
    dying.set(object);
}

/// Ends a destruction at `depth`. Returns the next object to destroy if this was the outermost
/// destruction, and null if there is none.
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
    // SAFETY: `enter` linked the object. Its count is restored to what deleters expect: no strong
    // reference.
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

/// Returns `true` if objects of this built-in type own no other objects, so that their destruction
/// cannot nest.
#[cfg(all(feature = "speed", not(feature = "client")))]
fn is_leaf(index: i32) -> bool {
    matches!(index, type_index::STR | type_index::BYTES | type_index::SHAPE | type_index::BIG_INT)
}

/// Returns `false`: size-optimised builds treat all types alike.
#[cfg(not(any(feature = "speed", feature = "client")))]
fn is_leaf(_: i32) -> bool {
    false
}

/// Calls the deleter of an object, if it has one.
///
/// # Safety
/// The object must be in the state that `flags` describe, and the caller must own it.
unsafe fn call_deleter(object: *mut TVMFFIObject, flags: c_int) {
    // SAFETY: the header is readable until the deleter frees the memory; the slot holds a function
    // or null (ABI).
    unsafe {
        if let Some(deleter) = (*object).deleter.deleter {
            deleter(object.cast(), flags);
        }
    }
}

//! Destruction of dead objects, and the queue of those nested too deep.

use core::ptr;

use super::deleter::call_deleter;
use crate::abi::{TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskBoth};
use crate::object::{free, refcount};
use crate::platform::sync::is_single_threaded;
use crate::platform::sync::per_thread::{self, Dying, Queue};

/// Queues a dead object if this thread is destroying another one. Returns `true` if it was queued.
/// The queue is last in, first out.
pub(super) fn defer(object: *mut TVMFFIObject) -> bool {
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

/// Destroys a dead object, or queues it if destructions on this thread are nested too deep.
///
/// # Safety
/// No reference to `object` may remain.
#[inline(always)]
pub(super) unsafe fn destroy(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { destroy_or_queue(object, per_thread::dying) };
}

/// Destroys a dead object in a single-threaded process. Marked cold, so that
/// [`super::release_inline`] continues without a taken branch if the object stays alive.
///
/// # Safety
/// Same requirements as [`destroy`], and the process is single-threaded.
#[cold]
#[inline(never)]
pub(super) unsafe fn destroy_single_threaded(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { destroy_or_queue(object, per_thread::dying_single_threaded) };
}

/// Destroys a dead object, or adds it to `queue` if destructions are nested too deep.
///
/// # Safety
/// Same requirements as [`destroy`].
#[inline(always)]
unsafe fn destroy_or_queue(object: *mut TVMFFIObject, queue: impl FnOnce() -> Queue) {
    // SAFETY: the object is dead but not destroyed: its header is readable. No reference remains.
    unsafe {
        // Size-optimised builds treat all classes alike.
        if !cfg!(feature = "speed") || !free::free_leaf(object) {
            destroy_nested(object, queue);
        }
    }
}

/// Destroys an object that may own other objects. Out of line, so that the destruction of leaf
/// objects needs no stack frame.
///
/// # Safety
/// Same requirements as [`destroy`].
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
        if !cfg!(feature = "speed") {
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
const MAX_DEPTH: usize = if cfg!(feature = "speed") { 32 } else { 1 };

/// Result of [`enter`] for a queued object, in place of a depth.
const QUEUED: usize = 0;

/// Returns the representation of an empty queue while `depth` destructions are running; never the
/// address of an object.
const fn empty_at(depth: usize) -> *mut TVMFFIObject {
    ptr::without_provenance_mut(depth)
}

/// Starts a destruction and returns its depth, or queues the object and returns [`QUEUED`].
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

fn link_of(object: *mut TVMFFIObject) -> *mut *mut TVMFFIObject {
    // SAFETY: taking the address of a field of a live allocation.
    unsafe { (&raw mut (*object).combined_ref_count).cast() }
}

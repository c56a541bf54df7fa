//! Where boards take memory for objects: from the built-in allocator, and from another one in programs that set one. Only those
//! link what asks it.

use core::ptr::{self, NonNull};

use super::super::{BUILTIN, RecordLayout, allocate_builtin};
use crate::abi::TVMFFICustomAllocator;
use crate::error::{self, Error};
use crate::lazy_link::LazyLink;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::per_thread;
use crate::{raised_error, type_index};

/// The code that only a custom allocator needs: the request, and the error for a refusal.
struct CustomAllocation {
    ask: fn(usize, usize, i32) -> Option<NonNull<u8>>,
    refusal: fn(usize) -> Error,
}

/// The record, while a custom allocator is set.
static CUSTOM: LazyLink<CustomAllocation> = LazyLink::new();

static ALLOCATOR: AtomicPtr<TVMFFICustomAllocator> = AtomicPtr::new((&raw const BUILTIN.0).cast_mut());

/// Memory for an object.
pub(in crate::object_alloc) fn object(
    size: usize,
    class: &RecordLayout,
    type_index: i32,
) -> Option<NonNull<u8>> {
    match CUSTOM.get() {
        Some(custom) => (custom.ask)(size, class.alignment, type_index),
        None => allocate_builtin(size, class.alignment),
    }
}

/// Memory for an error.
pub(in crate::object_alloc) fn error(size: usize, class: &RecordLayout) -> Option<NonNull<u8>> {
    object(size, class, type_index::ERROR)
}

/// The error for a refused object.
#[cold]
pub(in crate::object_alloc) fn refusal(size: usize) -> Error {
    match CUSTOM.get() {
        Some(custom) => (custom.refusal)(size),
        None => error::out_of_memory(size),
    }
}

/// Asks the allocator that is set. It reports its refusal by raising an error, which needs an object in turn: while it is
/// asked for an error, further errors come from the built-in allocator, so that the two do not call each other for ever.
fn ask(size: usize, alignment: usize, type_index: i32) -> Option<NonNull<u8>> {
    let is_error = type_index == type_index::ERROR;
    if is_error && per_thread::swap_asking_for_error(true) {
        return allocate_builtin(size, alignment);
    }
    let allocator = custom_allocator();
    // SAFETY: the slot holds a live record for the life of the process (contract of `set_custom_allocator`).
    let body = unsafe {
        (*allocator)
            .allocate
            .map_or(ptr::null_mut(), |allocate| allocate(size, alignment, type_index, (*allocator).context))
    };
    if is_error {
        per_thread::swap_asking_for_error(false);
        if body.is_null() {
            // What was raised about this refusal must not be taken for another one's later.
            drop(raised_error::take());
        }
    }
    NonNull::new(body.cast())
}

/// The error that the allocator raised when it refused.
fn reported(size: usize) -> Error {
    raised_error::take().unwrap_or_else(|| error::out_of_memory(size))
}

/// The allocator that objects come from now; never null.
///
/// # Upstream
/// `TVMFFIGetCustomAllocator`.
pub fn custom_allocator() -> *mut TVMFFICustomAllocator {
    ALLOCATOR.load(Ordering::Acquire)
}

/// Sets the allocator of objects made from now on; null sets the built-in one. Objects keep the allocator that made them.
///
/// # Safety
/// The record must stay alive and unchanged for the life of the process.
///
/// # Upstream
/// `TVMFFISetCustomAllocator`.
#[inline(always)]
pub unsafe fn set_custom_allocator(allocator: *mut TVMFFICustomAllocator) {
    static ASKED: CustomAllocation = CustomAllocation { ask, refusal: reported };
    let builtin = (&raw const BUILTIN.0).cast_mut();
    let allocator = if allocator.is_null() { builtin } else { allocator };
    ALLOCATOR.store(allocator, Ordering::Release);
    CUSTOM.set((allocator != builtin).then_some(&ASKED));
}

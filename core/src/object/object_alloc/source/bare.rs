//! Memory for objects on bare metal: from the built-in allocator, or from a custom allocator if the
//! program sets one. The code that calls a custom allocator is lazily linked.

use core::ptr::{self, NonNull};

use super::super::{BUILTIN, RecordLayout, allocate_builtin};
use crate::abi::{TVMFFICustomAllocator, type_index};
use crate::error::{self, Error, raised_error};
use crate::platform::lazy_link::LazyLink;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::per_thread;

/// Functions that only a custom allocator needs: allocation, and creation of the error for a failed
/// allocation.
struct CustomAllocation {
    ask: fn(usize, usize, i32) -> Option<NonNull<u8>>,
    refusal: fn(usize) -> Error,
}

/// The functions for custom allocators, while one is set.
static CUSTOM: LazyLink<CustomAllocation> = LazyLink::new();

static ALLOCATOR: AtomicPtr<TVMFFICustomAllocator> =
    AtomicPtr::new((&raw const BUILTIN.0).cast_mut());

/// Allocates memory for an object. Returns `None` when out of memory.
pub(in crate::object::object_alloc) fn allocate_object(
    size: usize,
    class: &RecordLayout,
    type_index: i32,
) -> Option<NonNull<u8>> {
    match CUSTOM.get() {
        Some(custom) => (custom.ask)(size, class.alignment, type_index),
        None => allocate_builtin(size, class.alignment),
    }
}

/// Allocates memory for an error. Returns `None` when out of memory.
pub(in crate::object::object_alloc) fn allocate_error(
    size: usize,
    class: &RecordLayout,
) -> Option<NonNull<u8>> {
    allocate_object(size, class, type_index::ERROR)
}

/// Creates the error for a failed allocation of an object.
#[cold]
pub(in crate::object::object_alloc) fn allocation_error(size: usize) -> Error {
    match CUSTOM.get() {
        Some(custom) => (custom.refusal)(size),
        None => error::out_of_memory(size),
    }
}

/// Calls the custom allocator. It reports failure by raising an error, which is an object as well.
/// To avoid infinite recursion, errors created while it allocates an error come from the built-in
/// allocator.
fn ask(size: usize, alignment: usize, type_index: i32) -> Option<NonNull<u8>> {
    let is_error = type_index == type_index::ERROR;
    if is_error && per_thread::swap_asking_for_error(true) {
        return allocate_builtin(size, alignment);
    }
    let allocator = custom_allocator();
    // SAFETY: the slot holds a live record for the life of the process (contract of
    // `set_custom_allocator`).
    let body = unsafe {
        (*allocator).allocate.map_or(ptr::null_mut(), |allocate| {
            allocate(size, alignment, type_index, (*allocator).context)
        })
    };
    if is_error {
        per_thread::swap_asking_for_error(false);
        if body.is_null() {
            // The error raised for this failure must not be mistaken for a later one.
            drop(raised_error::take());
        }
    }
    NonNull::new(body.cast())
}

/// Takes the error that the custom allocator raised for a failed allocation, or creates a
/// MemoryError.
fn reported(size: usize) -> Error {
    raised_error::take().unwrap_or_else(|| error::out_of_memory(size))
}

/// Returns the current allocator for objects; never null.
///
/// # Upstream
/// `TVMFFIGetCustomAllocator`.
pub fn custom_allocator() -> *mut TVMFFICustomAllocator {
    ALLOCATOR.load(Ordering::Acquire)
}

/// Sets the allocator for objects created from now on; null restores the built-in one. Existing
/// objects keep their allocator.
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

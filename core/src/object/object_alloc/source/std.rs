//! Memory for objects on hosts and in kernel libraries: from the current allocator, which is loaded
//! for each object.
//!
//! With the feature `cxx`, the built-in allocator serves all of the library's objects, as
//! upstream's does. Upstream's Python package sets an allocator that nothing else uses yet, and
//! calling it made passing a numpy array to a function a sixth slower.

use core::ptr::{self, NonNull};

use super::super::{BUILTIN, INLINE, RecordLayout, allocate_builtin};
use crate::abi::TVMFFICustomAllocator;
#[cfg(not(feature = "client"))]
use crate::abi::type_index;
use crate::error::raised_error::{self, Mark};
use crate::error::{self, Error};
#[cfg(not(feature = "client"))]
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(feature = "client"))]
use crate::platform::sync::per_thread;

#[cfg(not(feature = "client"))]
static ALLOCATOR: AtomicPtr<TVMFFICustomAllocator> =
    AtomicPtr::new((&raw const BUILTIN.0).cast_mut());

/// Allocates memory for an object. Returns `None` when out of memory.
#[inline]
pub(in crate::object::object_alloc) fn allocate_object(
    size: usize,
    class: &RecordLayout,
    type_index: i32,
) -> Option<NonNull<u8>> {
    of_allocator(in_use(), size, class, type_index)
}

/// Allocates memory for an error. Returns `None` when out of memory.
///
/// A custom allocator reports failure by raising an error, which is an object as well. To avoid
/// infinite recursion, errors that the thread creates while it allocates an error come from the
/// built-in allocator.
#[cfg(not(feature = "client"))]
#[inline]
pub(in crate::object::object_alloc) fn allocate_error(
    size: usize,
    class: &RecordLayout,
) -> Option<NonNull<u8>> {
    let custom = in_use();
    let is_asked = !ptr::eq(custom, &BUILTIN.0) && !per_thread::swap_asking_for_error(true);
    let allocator = if is_asked { custom } else { &raw const BUILTIN.0 };
    let body = of_allocator(allocator, size, class, type_index::ERROR);
    if is_asked {
        per_thread::swap_asking_for_error(false);
        if body.is_none() {
            // The error raised for this failure must not be mistaken for a later one.
            drop(raised_error::take());
        }
    }
    body
}

#[inline]
fn of_allocator(
    allocator: *const TVMFFICustomAllocator,
    size: usize,
    class: &RecordLayout,
    type_index: i32,
) -> Option<NonNull<u8>> {
    // The common case is a direct call, so that the compiler can inline it.
    if INLINE && ptr::eq(allocator, &BUILTIN.0) {
        return allocate_builtin(size, class.alignment);
    }
    allocate_custom(allocator, size, class, type_index)
}

/// Allocates memory for an object from a custom allocator. Out of line, so that callers of the
/// built-in one preserve fewer registers.
#[cfg_attr(feature = "speed", cold, inline(never))]
fn allocate_custom(
    allocator: *const TVMFFICustomAllocator,
    size: usize,
    class: &RecordLayout,
    type_index: i32,
) -> Option<NonNull<u8>> {
    let before = Mark::now();
    // SAFETY: the slot holds a live record for the life of the process (contract of
    // `set_custom_allocator`).
    let body = unsafe {
        let allocate = (*allocator).allocate?;
        allocate(size, class.alignment, type_index, (*allocator).context)
    };
    if body.is_null() {
        // Whatever is raised now is taken for the allocator's error.
        raised_error::drop_earlier(before);
    }
    NonNull::new(body.cast())
}

/// Returns the error for a failed allocation of an object: the one that the custom allocator
/// raised, or a new MemoryError.
#[cold]
pub(in crate::object::object_alloc) fn allocation_error(size: usize) -> Error {
    let reported = if uses_builtin() { None } else { raised_error::take() };
    reported.unwrap_or_else(|| error::out_of_memory(size))
}

/// Returns the allocator used for the library's own objects.
#[inline]
fn in_use() -> *const TVMFFICustomAllocator {
    if cfg!(feature = "cxx") { &raw const BUILTIN.0 } else { custom_allocator() }
}

/// Returns `true` if the library's own objects come from the built-in allocator.
#[inline]
pub(in crate::object::object_alloc) fn uses_builtin() -> bool {
    ptr::eq(in_use(), &BUILTIN.0)
}

/// Returns the current custom allocator, or the built-in one if none is set; never null.
///
/// # Upstream
/// `TVMFFIGetCustomAllocator`.
#[cfg(not(feature = "client"))]
pub fn custom_allocator() -> *mut TVMFFICustomAllocator {
    ALLOCATOR.load(Ordering::Acquire)
}

/// Returns the allocator of the loaded `libtvm_ffi`.
#[cfg(feature = "client")]
pub fn custom_allocator() -> *mut TVMFFICustomAllocator {
    // SAFETY: the symbol takes nothing and returns a record that lives as long as the process.
    unsafe { crate::abi::client::TVMFFIGetCustomAllocator() }
}

/// Sets the allocator for objects created from now on; null restores the built-in one. Existing
/// objects keep their allocator. With the feature `cxx`, only clients that request the allocator
/// use it.
///
/// # Safety
/// The record must stay alive and unchanged for the life of the process.
///
/// # Upstream
/// `TVMFFISetCustomAllocator`.
#[cfg(not(feature = "client"))]
pub unsafe fn set_custom_allocator(allocator: *mut TVMFFICustomAllocator) {
    let allocator = if allocator.is_null() { (&raw const BUILTIN.0).cast_mut() } else { allocator };
    ALLOCATOR.store(allocator, Ordering::Release);
}

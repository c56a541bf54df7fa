//! Memory for objects on hosts and in kernel libraries: from the allocator that is set, looked up for each object.
//!
//! Beside C++ clients the built-in one makes all of the library's objects, as upstream's does. Upstream's Python package sets
//! an allocator that nobody asks for anything yet; passing a numpy array to a function took a sixth longer with it.

use core::ptr::{self, NonNull};

use super::super::{BUILTIN, IN_LINE, RecordLayout, allocate_builtin};
use crate::abi::TVMFFICustomAllocator;
use crate::error::{self, Error};
use crate::raised_error;
#[cfg(not(feature = "client"))]
use crate::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(feature = "client"))]
use crate::{sync::per_thread, type_index};

#[cfg(not(feature = "client"))]
static ALLOCATOR: AtomicPtr<TVMFFICustomAllocator> = AtomicPtr::new((&raw const BUILTIN.0).cast_mut());

/// Memory for an object.
#[inline]
pub(in crate::object_alloc) fn object(
    size: usize,
    class: &RecordLayout,
    type_index: i32,
) -> Option<NonNull<u8>> {
    of_allocator(in_use(), size, class, type_index)
}

/// Memory for an error.
///
/// A custom allocator reports its refusal by raising an error, which needs an object in turn: while it is asked for an
/// error, further errors of the thread come from the built-in allocator, so that the two do not call each other for
/// ever.
#[cfg(not(feature = "client"))]
#[inline]
pub(in crate::object_alloc) fn error(size: usize, class: &RecordLayout) -> Option<NonNull<u8>> {
    let custom = in_use();
    let is_asked = !ptr::eq(custom, &BUILTIN.0) && !per_thread::swap_asking_for_error(true);
    let allocator = if is_asked { custom } else { &raw const BUILTIN.0 };
    let body = of_allocator(allocator, size, class, type_index::ERROR);
    if is_asked {
        per_thread::swap_asking_for_error(false);
        if body.is_none() {
            // What was raised about this refusal must not be taken for another one's later.
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
    // The usual case is called by its name, so that the compiler can put it here.
    if IN_LINE && ptr::eq(allocator, &BUILTIN.0) {
        return allocate_builtin(size, class.alignment);
    }
    // SAFETY: the slot holds a live record for the life of the process (contract of `set_custom_allocator`).
    let body = unsafe {
        let allocate = (*allocator).allocate?;
        allocate(size, class.alignment, type_index, (*allocator).context)
    };
    NonNull::new(body.cast())
}

/// The error for a refused object. A custom allocator has raised its own; the built-in one leaves that to us.
#[cold]
pub(in crate::object_alloc) fn refusal(size: usize) -> Error {
    let reported = if uses_builtin() { None } else { raised_error::take() };
    reported.unwrap_or_else(|| error::out_of_memory(size))
}

/// The allocator that the library's own objects come from now.
#[inline]
fn in_use() -> *const TVMFFICustomAllocator {
    if cfg!(feature = "cxx") { &raw const BUILTIN.0 } else { custom_allocator() }
}

/// Whether the library's own objects come from the built-in allocator.
#[inline]
pub(in crate::object_alloc) fn uses_builtin() -> bool {
    ptr::eq(in_use(), &BUILTIN.0)
}

/// The allocator that is set; never null.
///
/// # Upstream
/// `TVMFFIGetCustomAllocator`.
#[cfg(not(feature = "client"))]
pub fn custom_allocator() -> *mut TVMFFICustomAllocator {
    ALLOCATOR.load(Ordering::Acquire)
}

/// The allocator of the loaded `libtvm_ffi`.
#[cfg(feature = "client")]
pub fn custom_allocator() -> *mut TVMFFICustomAllocator {
    // SAFETY: the symbol takes nothing and returns a record that lives as long as the process.
    unsafe { crate::abi::client::TVMFFIGetCustomAllocator() }
}

/// Sets the allocator of objects made from now on; null sets the built-in one. Objects keep the allocator that made them. With
/// the feature `cxx`, only clients that ask for the allocator use it.
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

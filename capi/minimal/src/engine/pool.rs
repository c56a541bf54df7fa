//! Pools of objects in static memory.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::function_object;
use ferrite_core::abi::{
    TVMFFIObject, TVMFFIObjectDeleterSlot, kTVMFFIObjectDeleterFlagBitMaskStrong,
    kTVMFFIObjectDeleterFlagBitMaskWeak, type_index,
};
use ferrite_core::object::refcount;
use ferrite_core::platform::sync::atomic::{AtomicI32, Ordering};
use ferrite_core::platform::sync::critical;

/// A record that can be stored in a pool.
///
/// # Safety
/// The record must start with a `TVMFFIObject` and be aligned to 8 bytes, as objects are (ABI).
pub(super) unsafe trait PoolObject {}

/// A pool of `N` slots for objects of one type. A zero-initialised pool has only free slots.
#[repr(align(8))]
pub(super) struct ObjectPool<T, const N: usize>(UnsafeCell<MaybeUninit<[T; N]>>);

// SAFETY: a slot is owned by its claimant; claims are made in a critical section.
unsafe impl<T, const N: usize> Sync for ObjectPool<T, N> {}

impl<T: PoolObject, const N: usize> ObjectPool<T, N> {
    /// Creates a pool with only free slots.
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::zeroed()))
    }

    /// Claims a slot and writes an object header with one strong reference. Returns `None` if all
    /// slots are in use.
    ///
    /// The bytes after the header are zero, or left over from the previous object.
    #[inline]
    pub(super) fn claim(&'static self, type_index: i32) -> Option<NonNull<T>> {
        // SAFETY: the slots are contiguous and start with a header.
        Some(unsafe { claim(self.0.get().cast(), size_of::<T>(), N, type_index) }?.cast())
    }
}

/// Implements [`ObjectPool::claim`] for all record types: claims the first free slot.
///
/// # Safety
/// `count` slots of `bytes` bytes each must start at `first`; `count` must not be zero.
#[inline(never)]
unsafe fn claim(
    first: *mut TVMFFIObject,
    bytes: usize,
    count: usize,
    type_index: i32,
) -> Option<NonNull<TVMFFIObject>> {
    let mut object = first;
    let mut left = count;
    // SAFETY: the caller's promise; a free slot has no owner.
    critical(|| unsafe {
        while mark(object).load(Ordering::Relaxed) != 0 {
            object = object.byte_add(bytes);
            left -= 1;
            if left == 0 {
                return None;
            }
        }
        mark(object).store(type_index, Ordering::Relaxed);
        (*object).combined_ref_count = refcount::INITIAL;
        (*object).deleter = TVMFFIObjectDeleterSlot { deleter: Some(delete) };
        NonNull::new(object)
    })
}

/// The deleter of pooled objects: releases the state of a function object, and frees the slot when
/// no reference remains.
unsafe extern "C" fn delete(object: *mut c_void, flags: c_int) {
    let object = object.cast::<TVMFFIObject>();
    // SAFETY: the deleter is called with an object of a pool, once per flag.
    unsafe {
        if flags & kTVMFFIObjectDeleterFlagBitMaskStrong != 0
            && (*object).type_index == type_index::FUNCTION
        {
            function_object::end(object);
        }
        if flags & kTVMFFIObjectDeleterFlagBitMaskWeak != 0 {
            mark(object).store(0, Ordering::Relaxed);
        }
    }
}

/// Returns the word of a slot that is zero while the slot is free: the type index of its object.
///
/// # Safety
/// `object` must lie in a pool.
unsafe fn mark<'a>(object: *mut TVMFFIObject) -> &'a AtomicI32 {
    // SAFETY: pools are static, and their slots start with a header, initially zero.
    unsafe { AtomicI32::from_ptr(&raw mut (*object).type_index) }
}

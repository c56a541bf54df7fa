//! Objects in static memory.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::function;
use crate::abi::{
    TVMFFIObject, TVMFFIObjectDeleterSlot, kTVMFFIObjectDeleterFlagBitMaskStrong,
    kTVMFFIObjectDeleterFlagBitMaskWeak,
};
use crate::sync::atomic::{AtomicI32, Ordering};
use crate::sync::critical;
use crate::{refcount, type_index};

/// What a pool is made of.
///
/// # Safety
/// The record starts with a `TVMFFIObject` and lies at multiples of 8, as objects do (ABI).
pub(super) unsafe trait PoolObject {}

/// `N` objects of one kind. Zeros: all of them are free.
#[repr(align(8))]
pub(super) struct ObjectPool<T, const N: usize>(UnsafeCell<MaybeUninit<[T; N]>>);

// SAFETY: a slot belongs to who claimed it; claims are made in a critical section.
unsafe impl<T, const N: usize> Sync for ObjectPool<T, N> {}

impl<T: PoolObject, const N: usize> ObjectPool<T, N> {
    /// A pool whose slots are free.
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::zeroed()))
    }

    /// Takes a slot and writes its header: an object with one reference. None when all are in use.
    ///
    /// What follows the header is zeros, or what the object before left there.
    #[inline]
    pub(super) fn claim(&'static self, type_index: i32) -> Option<NonNull<T>> {
        // SAFETY: the slots lie in a row and start with a header.
        Some(unsafe { claim(self.0.get().cast(), size_of::<T>(), N, type_index) }?.cast())
    }
}

/// # Safety
/// `count` slots of `bytes` bytes each follow `first`.
#[inline(never)]
unsafe fn claim(
    first: *mut TVMFFIObject,
    bytes: usize,
    count: usize,
    type_index: i32,
) -> Option<NonNull<TVMFFIObject>> {
    let mut object = first;
    let mut left = count;
    // SAFETY: the caller's promise; a slot that is free is nobody's.
    critical(|| unsafe {
        while left != 0 {
            if mark(object).load(Ordering::Relaxed) == 0 {
                mark(object).store(type_index, Ordering::Relaxed);
                (*object).combined_ref_count = refcount::INITIAL;
                (*object).deleter = TVMFFIObjectDeleterSlot { deleter: Some(delete) };
                return NonNull::new(object);
            }
            object = object.byte_add(bytes);
            left -= 1;
        }
        None
    })
}

/// The deleter: ends what a function object owns, and frees the slot when nobody refers to it.
unsafe extern "C" fn delete(object: *mut c_void, flags: c_int) {
    let object = object.cast::<TVMFFIObject>();
    // SAFETY: the deleter is called with an object of a pool, once per flag.
    unsafe {
        if flags & kTVMFFIObjectDeleterFlagBitMaskStrong != 0 && (*object).type_index == type_index::FUNCTION
        {
            function::end(object);
        }
        if flags & kTVMFFIObjectDeleterFlagBitMaskWeak != 0 {
            mark(object).store(0, Ordering::Relaxed);
        }
    }
}

/// The word that says whether a slot is taken: the type index of its object.
///
/// # Safety
/// `object` lies in a pool.
unsafe fn mark<'a>(object: *mut TVMFFIObject) -> &'a AtomicI32 {
    // SAFETY: pools are static, their slots start with a header, and it is zeros at first.
    unsafe { AtomicI32::from_ptr(&raw mut (*object).type_index) }
}

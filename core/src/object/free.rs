//! Return of the memory of dead objects, and the classes whose objects own nothing else.

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

#[cfg(not(feature = "client"))]
use crate::abi::{TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskBoth};
use crate::abi::{TVMFFIObjectAllocHeader, kTVMFFIObjectDeleterFlagBitMaskWeak};
use crate::platform::memory;

/// Offset of objects in blocks of the built-in allocator, in bytes, if their alignment is at most
/// this. All of the library's objects qualify. The bytes before the object store the ABI's header;
/// there are no more, so that more small objects fit into the processor's caches.
pub(super) const BODY_OFFSET: usize = 8;

/// Whether the built-in allocator is inlined where objects are created and freed. Size-optimised
/// builds call it.
pub(super) const INLINE: bool = cfg!(feature = "speed");

/// Deleter of leaf classes, whose objects own nothing and have no prefix.
pub(crate) const LEAF_DELETER: unsafe extern "C" fn(*mut c_void, c_int) = delete_leaf;

/// Frees the memory of a leaf. Never inlined, so that its address identifies these objects.
///
/// # Safety
/// The caller must follow the ABI's rules for deleters, for an object of this library without a
/// prefix.
#[inline(never)]
unsafe extern "C" fn delete_leaf(object: *mut c_void, flags: c_int) {
    // SAFETY: the caller's promise.
    unsafe { delete_space(object.cast(), flags) };
}

/// Frees a dead object if its class is a leaf, without an indirect call. Returns `false` and does
/// nothing for other objects.
///
/// # Safety
/// No reference to `object` may remain.
#[cfg(not(feature = "client"))]
#[inline(always)]
pub(super) unsafe fn free_leaf(object: *mut TVMFFIObject) -> bool {
    // SAFETY: the object is dead but not destroyed: its header is readable, and the deleter says
    // how its memory was allocated.
    unsafe {
        let deleter = (*object).deleter.deleter;
        let is_leaf = deleter.is_some_and(|deleter| ptr::fn_addr_eq(deleter, LEAF_DELETER));
        if is_leaf {
            delete_space(object.cast(), kTVMFFIObjectDeleterFlagBitMaskBoth);
        }
        is_leaf
    }
}

/// Returns the memory of an object to its allocator, if the flags say that no reference remains.
/// Size-optimised builds share one copy of this function for all classes.
///
/// # Safety
/// The body must come from an allocation of `object_alloc`, and the flags must be correct.
#[cfg_attr(feature = "speed", inline)]
#[cfg_attr(not(feature = "speed"), inline(never))]
pub(super) unsafe fn delete_space(body: *mut u8, flags: c_int) {
    if flags & kTVMFFIObjectDeleterFlagBitMaskWeak == 0 {
        return;
    }
    // SAFETY: the allocator's header precedes the body.
    unsafe {
        let header = body.cast::<TVMFFIObjectAllocHeader>().sub(1);
        let address = (&raw const (*header).delete_space).cast::<*const ()>().read();
        // The common case is a direct call, so that the compiler can inline it.
        if INLINE && ptr::addr_eq(address, BUILTIN_DELETE_SPACE as *const ()) {
            builtin_delete_space::<BODY_OFFSET>(body.cast());
        } else if let Some(delete_space) = (*header).delete_space {
            delete_space(body.cast());
        }
    }
}

const BUILTIN_DELETE_SPACE: unsafe extern "C" fn(*mut c_void) = builtin_delete_space::<BODY_OFFSET>;

#[inline]
pub(super) unsafe extern "C" fn builtin_delete_space<const OFFSET: usize>(body: *mut c_void) {
    // SAFETY: only called with a body from `object_alloc` with the same offset.
    unsafe {
        let block = body.cast::<u8>().sub(OFFSET);
        // The heap knows the size of a block.
        memory::release(NonNull::new_unchecked(block), Layout::new::<u64>());
    }
}

//! The 24-byte object header, deleter flags, opaque handle and allocator records.

use core::ffi::{c_int, c_void};

/// A pointer to the `TVMFFIObject` header of an object.
pub type TVMFFIObjectHandle = *mut c_void;

c_enum! {
    /// The actions requested of a deleter, as bits of its `flags`.
    pub enum TVMFFIObjectDeleterFlagBitMask: i32 {
        /// The last strong reference was released: destroy the content, keep the memory.
        kTVMFFIObjectDeleterFlagBitMaskStrong = 1 << 0,
        /// The last weak reference was released: free the memory.
        kTVMFFIObjectDeleterFlagBitMaskWeak = 1 << 1,
        /// Both at once, the common case: destroy the content and free the memory.
        kTVMFFIObjectDeleterFlagBitMaskBoth = (1 << 0) | (1 << 1),
    }
}

/// The deleter of an object, in a slot of eight bytes on every target.
#[repr(C)]
#[derive(Clone, Copy)]
pub union TVMFFIObjectDeleterSlot {
    /// Called with the object's handle and `TVMFFIObjectDeleterFlagBitMask` bits; null when nothing
    /// needs to be done.
    pub deleter: Option<unsafe extern "C" fn(self_: *mut c_void, flags: c_int)>,
    /// Reserves eight bytes, aligned to eight.
    pub ensure_align: i64,
}

/// The header that every object starts with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TVMFFIObject {
    /// The strong count in the low 32 bits and the weak count in the high 32 bits.
    ///
    /// A new object holds one of each; all strong references together own one weak reference.
    pub combined_ref_count: u64,
    /// The type of the object, as in `TVMFFIAny.type_index`.
    pub type_index: i32,
    /// Zero in a new object. Ferrite keeps the borrow state here; no other code may write it.
    pub padding: u32,
    /// Destroys the object.
    pub deleter: TVMFFIObjectDeleterSlot,
}

/// The header that precedes the storage of an object from a `TVMFFICustomAllocator`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFIObjectAllocHeader {
    /// Frees the storage of an object, given the address of its header.
    ///
    /// Called once, by the object's deleter, when the last weak reference is released. The content
    /// is already destroyed and must not be read. Null when the deleter frees the storage in
    /// another way.
    pub delete_space: Option<unsafe extern "C" fn(ptr: *mut c_void)>,
}

/// An allocator of objects.
///
/// It must stay valid as long as the process runs, and may be called by several threads
/// concurrently.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFICustomAllocator {
    /// Allocates `size` bytes of uninitialised storage for an object of the given type, aligned to
    /// `alignment`.
    ///
    /// A `TVMFFIObjectAllocHeader` with its callback set must directly precede the returned
    /// address; `size` does not include it. On failure, returns null after raising an error with
    /// `TVMFFIErrorSetRaised`.
    pub allocate: Option<
        unsafe extern "C" fn(
            size: usize,
            alignment: usize,
            type_index: i32,
            context: *mut c_void,
        ) -> *mut c_void,
    >,
    /// Passed to `allocate`; may be null.
    pub context: *mut c_void,
}

#[cfg(any(target_pointer_width = "64", not(target_arch = "x86")))]
assert_layout!(TVMFFIObject, size 24, align 8, {
    combined_ref_count: 0, type_index: 8, padding: 12, deleter: 16,
});

#[cfg(target_pointer_width = "64")]
mod layout_64 {
    use super::*;

    assert_layout!(TVMFFIObjectAllocHeader, size 8, align 8, { delete_space: 0 });
    assert_layout!(TVMFFICustomAllocator, size 16, align 8, { allocate: 0, context: 8 });
}

#[cfg(target_pointer_width = "32")]
mod layout_32 {
    use super::*;

    assert_layout!(TVMFFIObjectAllocHeader, size 4, align 4, { delete_space: 0 });
    assert_layout!(TVMFFICustomAllocator, size 8, align 4, { allocate: 0, context: 4 });
}

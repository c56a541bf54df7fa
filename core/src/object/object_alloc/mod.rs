//! Allocation of objects from the built-in allocator, from a custom one, or in chunks.

#[cfg(all(feature = "std", feature = "speed", not(feature = "client")))]
pub(crate) mod adopt;
mod source;

#[cfg(all(feature = "std", feature = "speed", not(feature = "client")))]
mod chunk_reserve;
#[cfg(all(feature = "std", feature = "speed", not(feature = "client")))]
mod chunks;
#[cfg(all(feature = "std", feature = "speed", not(feature = "client")))]
mod recycled;

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::mem::{align_of, size_of};
use core::ptr::{self, NonNull};

#[cfg(not(feature = "client"))]
use crate::abi::type_index;
use crate::abi::{
    TVMFFICustomAllocator, TVMFFIObject, TVMFFIObjectAllocHeader, TVMFFIObjectDeleterSlot,
    kTVMFFIObjectDeleterFlagBitMaskBoth, kTVMFFIObjectDeleterFlagBitMaskStrong,
};
use crate::error::{self, Result};
use crate::object::free::{BODY_OFFSET, INLINE, builtin_delete_space, delete_space};
use crate::object::{ObjectRef, refcount};
use crate::platform::{memory, unwind};

pub use source::custom_allocator;
#[cfg(not(feature = "client"))]
pub use source::set_custom_allocator;
#[cfg(not(all(feature = "std", feature = "speed", not(feature = "client"))))]
pub use {Apart as Chunks, Apart as Recycled};
#[cfg(all(feature = "std", feature = "speed", not(feature = "client")))]
pub use {chunks::Chunks, recycled::Recycled};

/// Memory layout of an object class, and the destructor of its content.
///
/// # Safety
/// The type must be `repr(C)` with [`TVMFFIObject`] as its first field at offset `PREFIX_BYTES`
/// (zero unless the object starts before its handle), and be aligned to at most 16 bytes.
pub unsafe trait ObjectRecord: Sized {
    /// Number of bytes of the object before its handle.
    const PREFIX_BYTES: usize = 0;

    /// Deleter of the class. A class whose objects are identified by the address of their deleter
    /// defines its own, which calls this one.
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = delete::<Self>;

    /// Destroys the content but does not free the memory. Called once, after the last strong
    /// reference is released.
    ///
    /// # Safety
    /// `this` must be the handle of an initialised record with no other user.
    unsafe fn destroy(this: *mut TVMFFIObject);
}

/// Maximum alignment that the built-in allocator supports: the alignment of its blocks. Objects
/// with this alignment, which only clients request, are placed at this offset in their block.
const BODY_ALIGNMENT: usize = 2 * size_of::<usize>();

const _: () =
    assert!(size_of::<TVMFFIObjectAllocHeader>() <= BODY_OFFSET && BODY_OFFSET <= BODY_ALIGNMENT);

static BUILTIN: BuiltinAllocator = BuiltinAllocator(TVMFFICustomAllocator {
    allocate: Some(builtin_allocate),
    context: ptr::null_mut(),
});

struct BuiltinAllocator(TVMFFICustomAllocator);

// SAFETY: the record is never written; its fields are a function and a null pointer.
unsafe impl Sync for BuiltinAllocator {}

/// A source of memory for objects: individual allocations ([`Apart`]), chunks that objects share
/// ([`Chunks`]), or blocks of earlier objects ([`Recycled`]).
///
/// # Safety
/// `allocate` must return memory with the size and alignment of the class and the trailing bytes,
/// used by nothing else, and with a header of that type whose deleter frees it.
pub unsafe trait Space {
    /// Allocates memory for an object and sets up its header.
    ///
    /// # Errors
    /// Same errors as [`allocate`].
    #[doc(hidden)]
    fn allocate(
        &mut self,
        class: &RecordLayout,
        type_index: i32,
        trailing_bytes: usize,
    ) -> Result<NonNull<u8>>;
}

/// A space that allocates every object individually.
#[derive(Default)]
pub struct Apart;

// SAFETY: `allocate_class` returns such memory.
unsafe impl Space for Apart {
    #[inline]
    fn allocate(
        &mut self,
        class: &RecordLayout,
        type_index: i32,
        trailing_bytes: usize,
    ) -> Result<NonNull<u8>> {
        allocate_class(class, type_index, trailing_bytes)
    }
}

/// Allocates and initialises an object.
///
/// Sets up the header: counts of one, the type index, and the deleter of `R`. Then `init` receives
/// the start of the record and writes every other field. `trailing_bytes` bytes follow the record.
///
/// # Errors
/// MemoryError, or the error that the custom allocator raised.
///
/// # Safety
/// `init` must leave the record in a state that `R::destroy` accepts; `type_index` must be that of
/// a class with this layout.
#[inline(always)]
pub unsafe fn allocate<R: ObjectRecord>(
    type_index: i32,
    trailing_bytes: usize,
    init: impl FnOnce(*mut R),
) -> Result<ObjectRef> {
    let body = allocate_class(const { &RecordLayout::of::<R>() }, type_index, trailing_bytes)?;
    init(body.as_ptr().cast());
    // SAFETY: the body has space for the record and the trailing bytes, and its header is set up;
    // the caller guarantees for `init`.
    Ok(unsafe { ObjectRef::from_raw(body.add(R::PREFIX_BYTES).cast()) })
}

/// Allocates an object in a space and initialises it like [`allocate`].
///
/// # Errors
/// Same errors as [`allocate`].
///
/// # Safety
/// Same requirements as [`allocate`].
pub unsafe fn allocate_in<R: ObjectRecord>(
    space: &mut impl Space,
    type_index: i32,
    trailing_bytes: usize,
    init: impl FnOnce(*mut R),
) -> Result<ObjectRef> {
    let body = space.allocate(const { &RecordLayout::of::<R>() }, type_index, trailing_bytes)?;
    init(body.as_ptr().cast());
    // SAFETY: the body has space for the record and the trailing bytes, and its header is set up;
    // the caller guarantees for `init`.
    Ok(unsafe { ObjectRef::from_raw(body.add(R::PREFIX_BYTES).cast()) })
}

/// Layout and deleter of a record type, as needed to allocate it.
#[doc(hidden)]
pub struct RecordLayout {
    bytes: usize,
    alignment: usize,
    prefix_bytes: usize,
    deleter: unsafe extern "C" fn(*mut c_void, c_int),
}

impl RecordLayout {
    const fn of<R: ObjectRecord>() -> RecordLayout {
        const { assert!(align_of::<R>() <= 16) };
        let alignment = if align_of::<R>() > 8 { 16 } else { 8 };
        RecordLayout {
            bytes: size_of::<R>(),
            alignment,
            prefix_bytes: R::PREFIX_BYTES,
            deleter: R::DELETER,
        }
    }
}

/// Allocates an object and sets up its header. Size-optimised builds share one copy of this
/// function for all classes.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
fn allocate_class(
    class: &RecordLayout,
    type_index: i32,
    trailing_bytes: usize,
) -> Result<NonNull<u8>> {
    let Some(size) = object_bytes(class, trailing_bytes) else {
        return Err(error::out_of_memory(usize::MAX));
    };
    match source::allocate_object(size, class, type_index) {
        Some(body) => Ok(set_up(body, class, type_index)),
        None => Err(source::allocation_error(size)),
    }
}

/// Allocates an error object; the caller fills its record. Returns `None` when out of memory, since
/// no error could be allocated for that either.
#[cfg(not(feature = "client"))]
pub(crate) fn allocate_error<R: ObjectRecord>(trailing_bytes: usize) -> Option<NonNull<R>> {
    let class = const { &RecordLayout::of::<R>() };
    let body = source::allocate_error(object_bytes(class, trailing_bytes)?, class)?;
    Some(set_up(body, class, type_index::ERROR).cast())
}

fn object_bytes(class: &RecordLayout, trailing_bytes: usize) -> Option<usize> {
    class.bytes.checked_add(trailing_bytes).filter(|size| *size <= MAX_BYTES)
}

/// Maximum size of an object in bytes: half the maximum allocation, which leaves space for the
/// headers of allocators.
const MAX_BYTES: usize = isize::MAX as usize / 2;

/// Deleter of the library's objects.
///
/// # Safety
/// The caller must follow the ABI's rules for deleters, and the object must come from
/// `allocate::<R>`.
pub(crate) unsafe extern "C" fn delete<R: ObjectRecord>(object: *mut c_void, flags: c_int) {
    if INLINE && flags != kTVMFFIObjectDeleterFlagBitMaskBoth {
        // SAFETY: the caller's promise.
        return unsafe { delete_by_parts::<R>(object, flags) };
    }
    if flags & kTVMFFIObjectDeleterFlagBitMaskStrong != 0 {
        // SAFETY: the flag says that no strong reference remains (ABI).
        unwind::contain_panic(|| unsafe { R::destroy(object.cast()) });
    }
    // SAFETY: the caller's promise.
    unsafe { delete_space(object.cast::<u8>().sub(R::PREFIX_BYTES), flags) };
}

/// Implements [`delete`] for objects with weak references. Out of line, so that the common path
/// need not preserve the flags while it destroys the content.
///
/// # Safety
/// Same requirements as [`delete`].
#[cold]
unsafe fn delete_by_parts<R: ObjectRecord>(object: *mut c_void, flags: c_int) {
    // SAFETY: the caller's promise.
    unsafe {
        if flags & kTVMFFIObjectDeleterFlagBitMaskStrong != 0 {
            unwind::contain_panic(|| R::destroy(object.cast()));
        }
        delete_space(object.cast::<u8>().sub(R::PREFIX_BYTES), flags);
    }
}

/// Sets up the header of an object.
fn set_up(body: NonNull<u8>, class: &RecordLayout, type_index: i32) -> NonNull<u8> {
    // SAFETY: the body has space for the record, whose prefix precedes the handle; the memory is
    // not shared yet.
    unsafe {
        let handle = body.add(class.prefix_bytes).cast::<TVMFFIObject>();
        handle.write(TVMFFIObject {
            combined_ref_count: refcount::INITIAL,
            type_index,
            padding: 0,
            deleter: TVMFFIObjectDeleterSlot { ensure_align: 0 },
        });
        (*handle.as_ptr()).deleter.deleter = Some(class.deleter);
    }
    body
}

unsafe extern "C" fn builtin_allocate(
    size: usize,
    alignment: usize,
    _type_index: i32,
    _context: *mut c_void,
) -> *mut c_void {
    if size > MAX_BYTES {
        return ptr::null_mut();
    }
    allocate_builtin(size, alignment).map_or(ptr::null_mut(), |body| body.as_ptr().cast())
}

/// Allocates memory for an object of at most [`MAX_BYTES`]. Returns `None` when out of memory.
#[inline]
fn allocate_builtin(size: usize, alignment: usize) -> Option<NonNull<u8>> {
    if alignment <= BODY_OFFSET {
        allocate_behind::<BODY_OFFSET>(size)
    } else if alignment <= BODY_ALIGNMENT {
        allocate_behind::<BODY_ALIGNMENT>(size)
    } else {
        None
    }
}

/// Allocates memory for an object at `OFFSET` in a new block.
#[inline]
fn allocate_behind<const OFFSET: usize>(size: usize) -> Option<NonNull<u8>> {
    let total = size + OFFSET;
    // SAFETY: the size is far below half the address space, and the alignment is a power of two.
    let block =
        memory::allocate(unsafe { Layout::from_size_align_unchecked(total, BODY_ALIGNMENT) })?;
    // SAFETY: the block is new and large enough.
    Some(unsafe { adopt_block::<OFFSET>(block) })
}

/// Writes the allocator's header to the first `OFFSET` bytes of a block. Returns the address of the
/// object, which follows.
///
/// # Safety
/// The block must come from [`memory`], must have more than `OFFSET` bytes, and must be owned by
/// the caller; `OFFSET` must be a multiple of 8.
#[inline]
unsafe fn adopt_block<const OFFSET: usize>(block: NonNull<u8>) -> NonNull<u8> {
    // SAFETY: the block starts with OFFSET bytes of the allocator, the last of which are the ABI's
    // header.
    unsafe {
        let body = block.add(OFFSET);
        body.cast::<TVMFFIObjectAllocHeader>()
            .sub(1)
            .write(TVMFFIObjectAllocHeader { delete_space: Some(builtin_delete_space::<OFFSET>) });
        body
    }
}

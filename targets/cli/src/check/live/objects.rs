//! Counts the live objects of the process, with a custom allocator.

use core::ffi::c_void;
use std::alloc::{Layout, alloc, dealloc};
use std::sync::atomic::{AtomicI64, Ordering};

use ferrite::abi::{TVMFFICustomAllocator, TVMFFIObject, TVMFFIObjectAllocHeader};
use ferrite::object_alloc;

/// Unit of the count, for messages.
pub const UNIT: &str = "objects";

/// Number of objects that were allocated since [`begin`], and not freed.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// Returns the number of live objects that were allocated since [`begin`].
pub fn now() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

static COUNTING: Counting =
    Counting(TVMFFICustomAllocator { allocate: Some(allocate), context: core::ptr::null_mut() });

struct Counting(TVMFFICustomAllocator);

// SAFETY: the record is never written; its context is null.
unsafe impl Sync for Counting {}

/// Begins to count, by installing the custom allocator.
pub fn begin() {
    // SAFETY: the record is static, and its function meets the contract of an allocator.
    unsafe { object_alloc::set_custom_allocator((&raw const COUNTING.0).cast_mut()) };
}

/// Bytes in front of an object: its size and alignment, and the header of the ABI.
const FRONT: usize = 32;

/// Allocates storage for an object behind the header of the ABI.
unsafe extern "C" fn allocate(
    size: usize,
    alignment: usize,
    _type_index: i32,
    _context: *mut c_void,
) -> *mut c_void {
    let front = FRONT.max(alignment);
    let layout =
        size.checked_add(front).and_then(|total| Layout::from_size_align(total, front).ok());
    let Some(layout) = layout else { return core::ptr::null_mut() };
    // SAFETY: the layout is not empty; the block has room for the front.
    unsafe {
        let block = alloc(layout);
        if block.is_null() {
            return core::ptr::null_mut();
        }
        let body = block.add(front);
        body.cast::<[usize; 2]>().sub(2).write([layout.size(), front]);
        body.cast::<TVMFFIObjectAllocHeader>()
            .sub(1)
            .write(TVMFFIObjectAllocHeader { delete_space: Some(free) });
        LIVE.fetch_add(1, Ordering::Relaxed);
        body.cast()
    }
}

unsafe extern "C" fn free(object: *mut c_void) {
    // SAFETY: only called with storage of `allocate`, once.
    unsafe {
        let body = object.cast::<u8>();
        let [size, front] = body.cast::<[usize; 2]>().sub(2).read();
        LIVE.fetch_sub(1, Ordering::Relaxed);
        dealloc(body.sub(front), Layout::from_size_align_unchecked(size, front));
    }
}

const _: () = assert!(size_of::<TVMFFIObject>() == 24 && size_of::<[usize; 2]>() * 2 <= FRONT);

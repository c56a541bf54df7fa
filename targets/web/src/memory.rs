//! Memory blocks that JavaScript allocates for arguments and copies of arrays.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_core::platform::memory;

/// Alignment of a block in bytes, and size of the header that stores its size.
const ALIGNMENT: usize = 8;

/// Returns the layout of a block of `bytes` bytes with its header, or `None` if it is larger than
/// memory can be.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(ALIGNMENT)?, ALIGNMENT).ok()
}

/// Allocates `bytes` bytes at a multiple of 8. Returns null when out of memory.
pub fn allocate(bytes: usize) -> *mut c_void {
    let Some(header) = layout(bytes).and_then(memory::allocate) else { return ptr::null_mut() };
    // SAFETY: the block has a header of the alignment, which is a multiple of a word.
    unsafe {
        header.cast::<usize>().write(bytes);
        header.add(ALIGNMENT).as_ptr().cast()
    }
}

/// Frees a block. Does nothing for null.
///
/// # Safety
/// The block must come from [`allocate`] and must not be used afterwards.
pub unsafe fn free(block: *mut c_void) {
    let Some(block) = NonNull::new(block.cast::<u8>()) else { return };
    // SAFETY: the caller guarantees the block, behind whose header it lies.
    unsafe {
        let header = block.sub(ALIGNMENT);
        if let Some(layout) = layout(header.cast::<usize>().read()) {
            memory::release(header, layout);
        }
    }
}

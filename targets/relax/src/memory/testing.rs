//! Test device with 16 KiB of memory: main memory under another device type.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

use core::ffi::c_void;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};

use ferrite_alloc_ext::device::{Attribute, Backend, Region, register};
use ferrite_core::Any;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::value::device::kind;

/// Size of the device's memory in bytes.
pub(crate) const CAPACITY: usize = 4 * 4096;

/// Size in bytes of the header before each allocation, which stores its size.
const HEADER: usize = 64;

struct SmallDevice;

static USED: AtomicUsize = AtomicUsize::new(0);

/// Number of calls of [`Backend::release_unused_memory`].
pub(crate) static RELEASES: AtomicUsize = AtomicUsize::new(0);

/// Registers the test device. Returns it.
pub(crate) fn device() -> DLDevice {
    static SMALL: &dyn Backend = &SmallDevice;
    register(&SMALL).unwrap();
    DLDevice { device_type: kind::EXT_DEV, device_id: 0 }
}

fn layout(bytes: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(HEADER + bytes, HEADER).unwrap()
}

// SAFETY: memory is a zeroed block of the global allocator, at least as large as asked; all work is
// done at once.
unsafe impl Backend for SmallDevice {
    fn device_type(&self) -> i32 {
        kind::EXT_DEV
    }

    fn set_device(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        if USED.fetch_add(bytes, Ordering::Relaxed) + bytes > CAPACITY {
            USED.fetch_sub(bytes, Ordering::Relaxed);
            return Err(out_of_memory(bytes));
        }
        // SAFETY: the block has room for the size before the data.
        unsafe {
            let block = std::alloc::alloc_zeroed(layout(bytes));
            block.cast::<usize>().write(bytes);
            Ok(block.add(HEADER).cast())
        }
    }

    unsafe fn free(&self, _id: i32, data: *mut c_void) {
        // SAFETY: the data comes from `allocate`.
        unsafe {
            let block = data.cast::<u8>().sub(HEADER);
            let bytes = block.cast::<usize>().read();
            USED.fetch_sub(bytes, Ordering::Relaxed);
            std::alloc::dealloc(block, layout(bytes));
        }
    }

    fn release_unused_memory(&self, _id: i32) -> Result<()> {
        RELEASES.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        _stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller guarantees both regions.
        unsafe { from.data.byte_add(from.offset).copy_to(to.data.byte_add(to.offset), bytes) };
        Ok(())
    }

    unsafe fn synchronize(&self, _id: i32, _stream: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn attribute(&self, _id: i32, _attribute: Attribute) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn allocate_workspace(&self, _id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        Err(out_of_memory(bytes))
    }

    unsafe fn free_workspace(&self, _id: i32, _workspace: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

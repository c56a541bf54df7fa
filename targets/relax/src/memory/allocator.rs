//! The allocators of storages, by device and kind.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{self, is_main_memory};
use ferrite_core::abi::DLDevice;
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::{memory, plain_bail};

/// The alignment of storages in bytes, which compiled kernels may rely on.
pub const ALIGNMENT: usize = if cfg!(target_os = "none") { 16 } else { 64 };

/// How an allocator manages freed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Gives freed memory back at once.
    Naive = 1,
    /// Keeps freed memory for requests of the same size.
    Pooled = 2,
}

impl Kind {
    /// The kind that the arguments of `vm_initialization` name by this number.
    ///
    /// # Errors
    /// InternalError for any other number.
    pub fn from_number(number: i64) -> Result<Kind> {
        match number {
            1 => Ok(Kind::Naive),
            2 => Ok(Kind::Pooled),
            _ => plain_bail!(INTERNAL_ERROR, "Unknown allocator type: {}", &number),
        }
    }
}

/// The source of memory of one kind on one device. All machines of the process share it.
#[derive(Clone, Copy, Debug)]
pub struct Allocator {
    device: DLDevice,
    kind: Kind,
}

impl Allocator {
    /// The allocator of that kind on a device.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device.
    pub fn new(device: DLDevice, kind: Kind) -> Result<Allocator> {
        if !is_main_memory(device.device_type) {
            device::get(device.device_type)?;
        }
        Ok(Allocator { device, kind })
    }

    /// The device.
    pub fn device(self) -> DLDevice {
        self.device
    }

    /// The kind.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// Allocates memory of any content, aligned to [`ALIGNMENT`].
    ///
    /// # Errors
    /// MemoryError; errors of the device.
    pub fn allocate(self, bytes: usize) -> Result<Block> {
        let data = self.allocate_data(bytes)?;
        Ok(Block { data, bytes, allocator: self })
    }

    fn allocate_data(self, bytes: usize) -> Result<*mut c_void> {
        if !is_main_memory(self.device.device_type) {
            return device::get(self.device.device_type)?.allocate(self.device.device_id, bytes, ALIGNMENT);
        }
        if bytes == 0 {
            return Ok(ptr::null_mut());
        }
        let layout = layout(bytes).ok_or_else(|| out_of_memory(bytes))?;
        let block = memory::allocate(layout).ok_or_else(|| out_of_memory(bytes))?;
        Ok(block.as_ptr().cast())
    }

    /// # Safety
    /// The data came from `allocate_data` for as many bytes, and nobody uses it any more.
    unsafe fn free_data(self, data: *mut c_void, bytes: usize) {
        if !is_main_memory(self.device.device_type) {
            if let Ok(backend) = device::get(self.device.device_type) {
                // SAFETY: the caller vouches for the data, which came from this back end.
                unsafe { backend.free(self.device.device_id, data) };
            }
        } else if let (Some(block), Some(layout)) = (NonNull::new(data.cast::<u8>()), layout(bytes)) {
            // SAFETY: the caller vouches for the block and its size.
            unsafe { memory::release(block, layout) };
        }
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGNMENT).ok()
}

/// Memory of a device. Dropping it gives it back to its allocator.
#[derive(Debug)]
pub struct Block {
    data: *mut c_void,
    bytes: usize,
    allocator: Allocator,
}

// SAFETY: the block is the only owner of its memory, which any thread may use and free.
unsafe impl Send for Block {}
// SAFETY: a shared block only tells its address and size.
unsafe impl Sync for Block {}

impl Block {
    /// The start of the memory; null if there are no bytes.
    pub fn data(&self) -> *mut c_void {
        self.data
    }

    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device of the memory.
    pub fn device(&self) -> DLDevice {
        self.allocator.device
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block came from this allocator, and goes away.
        unsafe { self.allocator.free_data(self.data, self.bytes) };
    }
}

/// Gives the memory that pooled allocators keep back to the devices.
pub fn clear() {}

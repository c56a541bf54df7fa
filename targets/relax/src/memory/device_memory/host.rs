//! Allocation of blocks in main memory.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::abi::DLDataType;
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::platform::memory;

/// Alignment of storages in bytes, on any device, which compiled kernels may rely on.
pub const ALIGNMENT: usize =
    if cfg!(any(target_os = "none", target_family = "wasm")) { 16 } else { 64 };

/// Alignment in bytes that kernels for hosts rely on.
const HOST_ALIGNMENT: usize = 64;

/// Whether blocks have zeros.
const IS_ZEROED: bool = cfg!(feature = "std");

/// Returns the alignment in bytes that kernels rely on for a tensor's data. Kernels for
/// microcontrollers and WebAssembly rely only on the alignment of an element.
pub(crate) fn required_alignment(dtype: DLDataType) -> usize {
    if cfg!(any(target_os = "none", target_family = "wasm")) {
        let bits = usize::from(dtype.bits) * usize::from(dtype.lanes);
        bits.div_ceil(8).next_power_of_two()
    } else {
        HOST_ALIGNMENT
    }
}

/// Allocates a block of initialised memory: tensors that are placed in it can be read before they
/// are written. With `std`, it is zeroed memory of the C heap. Other builds take it from a pool or
/// from hooks of the firmware: it then contains the bytes that were written last.
///
/// # Errors
/// MemoryError.
pub(super) fn allocate(bytes: usize) -> Result<*mut c_void> {
    let allocate = if IS_ZEROED { memory::allocate_zeroed } else { memory::allocate };
    let block = Layout::from_size_align(bytes, ALIGNMENT).ok().and_then(allocate);
    block.map(|block| block.as_ptr().cast()).ok_or_else(|| out_of_memory(bytes))
}

/// Frees a block of `bytes` bytes.
///
/// # Safety
/// The block must come from [`allocate`] with this size, and must not be used afterwards.
pub(super) unsafe fn free(block: *mut c_void, bytes: usize) {
    let Some(block) = NonNull::new(block.cast()) else { return };
    // SAFETY: as the caller guarantees; a block of this size and alignment was allocated.
    unsafe {
        let layout = Layout::from_size_align_unchecked(bytes, ALIGNMENT);
        if IS_ZEROED {
            memory::release_zeroed(block, layout);
        } else {
            memory::release(block, layout);
        }
    }
}

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
/// are written. With `std`, it is zeroed memory from `malloc`. Other builds take it from a pool or
/// from hooks of the firmware: it then contains the bytes that were written last.
///
/// # Errors
/// MemoryError.
pub(super) fn allocate(bytes: usize) -> Result<*mut c_void> {
    let block = Layout::from_size_align(bytes, ALIGNMENT).ok().and_then(memory::allocate);
    let Some(block) = block else { return Err(out_of_memory(bytes)) };
    if cfg!(feature = "std") {
        // SAFETY: the block has as many bytes.
        unsafe { block.write_bytes(0, bytes) };
    }
    Ok(block.as_ptr().cast())
}

/// Frees a block.
///
/// # Safety
/// The block must come from [`allocate`], and must not be used afterwards.
pub(super) unsafe fn free(block: *mut c_void) {
    if let Some(block) = NonNull::new(block.cast()) {
        // SAFETY: as the caller guarantees; every heap knows the size of its blocks, whose
        // alignment is a power of two.
        unsafe { memory::release(block, Layout::from_size_align_unchecked(1, ALIGNMENT)) };
    }
}

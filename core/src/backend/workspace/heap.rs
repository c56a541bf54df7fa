//! Workspaces from the heap of hosts.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use crate::error::{Result, out_of_memory};
use crate::memory;

/// Alignment of workspaces in bytes; compiled code assumes it for its vector loads.
pub(super) const ALIGNMENT: usize = 64;

/// Bytes before a workspace, which hold the size of its block; a whole unit, so that the workspace stays
/// aligned.
const HEADER_BYTES: usize = ALIGNMENT;

pub(super) fn allocate(size_bytes: u64) -> Result<NonNull<c_void>> {
    let total = usize::try_from(size_bytes).ok().and_then(|size| size.checked_add(HEADER_BYTES));
    let layout = total.and_then(|total| Layout::from_size_align(total, ALIGNMENT).ok());
    let Some((layout, block)) = layout.and_then(|layout| Some((layout, memory::allocate(layout)?))) else {
        return Err(out_of_memory(usize::try_from(size_bytes).unwrap_or(usize::MAX)));
    };
    // SAFETY: the block begins with the header, which has room for the size and is aligned for it.
    unsafe {
        block.cast::<usize>().write(layout.size());
        Ok(block.add(HEADER_BYTES).cast())
    }
}

/// # Safety
/// `workspace` came from `allocate`, is given back once and not used any more.
pub(super) unsafe fn release(workspace: NonNull<c_void>) -> Result<()> {
    // SAFETY: the header before the workspace holds the size that the block was allocated with.
    unsafe {
        let block = workspace.cast::<u8>().sub(HEADER_BYTES);
        let size = block.cast::<usize>().read();
        memory::release(block, Layout::from_size_align_unchecked(size, ALIGNMENT));
    }
    Ok(())
}

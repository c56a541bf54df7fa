//! Workspaces: temporary buffers that compiled functions ask for and give back within one call.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use crate::abi::{DLDevice, kDLCPU};
use crate::error::{Result, out_of_memory};
use crate::text::Writer;
use crate::{device, memory, plain_bail};

/// Alignment of workspaces in bytes; compiled code assumes it for its vector loads.
const ALIGNMENT: usize = 64;

/// Bytes before a workspace, which hold the size of its block; a whole unit, so that the workspace stays
/// aligned.
const HEADER_BYTES: usize = ALIGNMENT;

/// Gives `size_bytes` bytes of main memory, aligned to 64 bytes and uninitialised.
///
/// The caller gives the workspace back with [`free_workspace`], from any thread. Zero bytes give a pointer of
/// their own.
///
/// Errors: MemoryError when there is no such memory, ValueError when the device is not the CPU.
///
/// # Upstream
/// `TVMBackendAllocWorkspace` of `src/runtime/workspace_pool.cc`.
pub fn alloc_workspace(device_type: i32, device_id: i32, size_bytes: u64) -> Result<NonNull<c_void>> {
    check_device(device_type, device_id)?;
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

/// Takes back a workspace.
///
/// Errors: ValueError when the device is not the CPU.
///
/// # Safety
/// `workspace` must come from [`alloc_workspace`], be given back once and not be used any more.
///
/// # Upstream
/// `TVMBackendFreeWorkspace`.
pub unsafe fn free_workspace(device_type: i32, device_id: i32, workspace: NonNull<c_void>) -> Result<()> {
    check_device(device_type, device_id)?;
    // SAFETY: the header before the workspace holds the size that the block was allocated with.
    unsafe {
        let block = workspace.cast::<u8>().sub(HEADER_BYTES);
        let size = block.cast::<usize>().read();
        memory::release(block, Layout::from_size_align_unchecked(size, ALIGNMENT));
    }
    Ok(())
}

fn check_device(device_type: i32, device_id: i32) -> Result<()> {
    if device_type != kDLCPU {
        let mut text = [0u8; 32];
        let mut writer = Writer::new(&mut text);
        device::write_device(DLDevice { device_type, device_id }, &mut writer);
        let len = writer.wanted;
        plain_bail!(VALUE_ERROR, "there are no workspaces on device {}", &text[..len]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_aligned_apart_and_writable() {
        let sizes = [0u64, 1, 63, 64, 2048, 100_000];
        let blocks = sizes.map(|size| alloc_workspace(kDLCPU, 0, size).unwrap());
        for (size, block) in sizes.into_iter().zip(blocks) {
            assert_eq!(block.addr().get() % 64, 0);
            // SAFETY: the workspace has that many bytes.
            unsafe { block.cast::<u8>().write_bytes(7, size as usize) };
        }
        assert!(blocks.windows(2).all(|pair| pair[0] != pair[1]));
        for block in blocks {
            // SAFETY: each workspace is given back once.
            assert!(unsafe { free_workspace(kDLCPU, 0, block) }.is_ok());
        }
    }

    #[test]
    fn absurd_sizes_are_a_memory_error() {
        for size in [u64::MAX, u64::MAX - 63, isize::MAX as u64, isize::MAX as u64 - 64] {
            assert_eq!(alloc_workspace(kDLCPU, 0, size).unwrap_err().kind(), b"MemoryError");
        }
    }

    #[test]
    fn other_devices_have_no_workspaces() {
        let error = alloc_workspace(2, 1, 64).unwrap_err();
        assert_eq!(error.kind(), b"ValueError");
        assert_eq!(error.message(), b"there are no workspaces on device cuda:1");
    }
}

//! Workspaces: temporary buffers that compiled functions ask for and give back within one call.

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::abi::kDLCPU;
use crate::error::Result;

#[cfg(feature = "std")]
mod cache;
mod device;
#[cfg(not(feature = "std"))]
#[path = "bare.rs"]
mod source;
#[cfg(feature = "std")]
#[path = "std.rs"]
mod source;

#[cfg(not(feature = "std"))]
pub use source::{high_water, set_buffer};

pub use device::{DeviceWorkspaces, install_device_workspaces};

/// Gives `size_bytes` bytes of main memory, uninitialised and aligned for the vector loads of compiled code: to 64 bytes on
/// hosts, to `FERRITE_WORKSPACE_ALIGN` elsewhere.
///
/// The caller gives the workspace back with [`free_workspace`], from any thread; one from the buffer of a board in the reverse
/// order. Zero bytes give a pointer of their own. On hosts, a thread keeps the last 16 blocks that it gave back for its next
/// workspaces, until it ends.
///
/// # Errors
/// MemoryError when there is no such memory; ValueError when the device is not the CPU and no workspaces for devices are
/// installed, otherwise errors of those.
///
/// # Upstream
/// `TVMBackendAllocWorkspace` of `src/runtime/workspace_pool.cc`.
#[cfg_attr(feature = "speed", inline)]
pub fn alloc_workspace(device_type: i32, device_id: i32, size_bytes: u64) -> Result<NonNull<c_void>> {
    if device_type != kDLCPU {
        return device::allocate(device_type, device_id, size_bytes);
    }
    source::allocate(size_bytes)
}

/// Takes back a workspace.
///
/// # Errors
/// As [`alloc_workspace`] for other devices; ValueError for a workspace from the buffer of a board that is not the latest, and on hosts for
/// an address that is no workspace in use, as far as the bytes before it tell.
///
/// # Safety
/// `workspace` must come from [`alloc_workspace`], be given back once and not be used any more.
///
/// # Upstream
/// `TVMBackendFreeWorkspace`.
#[cfg_attr(feature = "speed", inline)]
pub unsafe fn free_workspace(device_type: i32, device_id: i32, workspace: NonNull<c_void>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if device_type != kDLCPU {
            return device::free(device_type, device_id, workspace);
        }
        source::release(workspace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held by tests that change where workspaces come from, or take large ones.
    pub(super) static SOURCE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    #[test]
    fn workspaces_are_aligned_apart_and_writable() {
        let _alone = SOURCE.lock();
        let sizes = [0u64, 1, 63, 64, 2048, 100_000];
        let blocks = sizes.map(|size| alloc_workspace(kDLCPU, 0, size).unwrap());
        for (size, block) in sizes.into_iter().zip(blocks) {
            assert_eq!(block.addr().get() % source::ALIGNMENT, 0);
            // SAFETY: the workspace has that many bytes.
            unsafe { block.cast::<u8>().write_bytes(7, size as usize) };
        }
        assert!(blocks.windows(2).all(|pair| pair[0] != pair[1]));
        for block in blocks.into_iter().rev() {
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

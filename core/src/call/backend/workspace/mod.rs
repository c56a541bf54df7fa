//! Workspaces: temporary buffers that a compiled function allocates and releases within one call.

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::abi::kDLCPU;
use crate::error::Result;

#[cfg(feature = "std")]
mod block;
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

/// Allocates `size_bytes` bytes of uninitialised main memory, aligned for the vector loads of
/// compiled code: to 64 bytes on hosts, to `FERRITE_WORKSPACE_ALIGN` elsewhere.
///
/// The caller releases the workspace with [`free_workspace`], on any thread. Workspaces from a
/// firmware buffer must be released in reverse order. A size of zero returns a distinct pointer. On
/// hosts, each thread caches the last 16 blocks that it released, until it ends.
///
/// # Errors
/// MemoryError when out of memory. For a device other than the CPU: ValueError if no device
/// workspaces are installed, otherwise the errors of their `allocate`.
///
/// # Upstream
/// `TVMBackendAllocWorkspace` of `src/runtime/workspace_pool.cc`.
#[inline]
pub fn alloc_workspace(
    device_type: i32,
    device_id: i32,
    size_bytes: u64,
) -> Result<NonNull<c_void>> {
    if device_type != kDLCPU {
        return device::allocate(device_type, device_id, size_bytes);
    }
    source::allocate(size_bytes)
}

/// Releases a workspace.
///
/// # Errors
/// ValueError for a workspace from a firmware buffer that is not the latest, and on hosts for an
/// address whose preceding bytes do not mark a workspace in use. For other devices, the same errors
/// as [`alloc_workspace`].
///
/// # Safety
/// `workspace` must come from [`alloc_workspace`], be released once and no longer be used.
///
/// # Upstream
/// `TVMBackendFreeWorkspace`.
#[inline]
pub unsafe fn free_workspace(
    device_type: i32,
    device_id: i32,
    workspace: NonNull<c_void>,
) -> Result<()> {
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

    /// Locked by tests that change the source of workspaces or allocate large ones.
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
            // SAFETY: each workspace is released once.
            assert!(unsafe { free_workspace(kDLCPU, 0, block) }.is_ok());
        }
    }

    #[test]
    fn absurd_sizes_are_a_memory_error() {
        for size in [u64::MAX, u64::MAX - 63, isize::MAX as u64, isize::MAX as u64 - 64] {
            assert_eq!(alloc_workspace(kDLCPU, 0, size).unwrap_err().kind_bytes(), b"MemoryError");
        }
    }

    #[test]
    fn other_devices_have_no_workspaces() {
        let error = alloc_workspace(2, 1, 64).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(error.message_bytes(), b"there are no workspaces on device cuda:1");
    }
}

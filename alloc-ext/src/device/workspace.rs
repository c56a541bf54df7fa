//! Workspaces, the scratch memory of compiled code: `TVMBackendAllocWorkspace` for devices other
//! than the CPU.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::call::backend::workspace::{DeviceWorkspaces, install_device_workspaces};
use ferrite_core::error::{Result, out_of_memory};

use super::table::get;

static WORKSPACES: DeviceWorkspaces =
    DeviceWorkspaces { allocate: allocate_workspace, free: free_workspace };

/// Registers the functions of this file as the provider of device workspaces.
///
/// # Threads
/// Any; an atomic store.
pub fn install() {
    // SAFETY: the workspaces are memory of the back end.
    unsafe { install_device_workspaces(&WORKSPACES) };
}

/// Allocates a workspace on a device.
///
/// # Errors
/// InternalError if the build has no back end for the device type; MemoryError; errors of the
/// driver.
pub fn allocate_workspace(
    device_type: i32,
    device_id: i32,
    size_bytes: u64,
) -> Result<NonNull<c_void>> {
    let backend = get(device_type)?;
    match usize::try_from(size_bytes) {
        Ok(bytes) => backend.allocate_workspace(device_id, bytes),
        Err(_) => Err(out_of_memory(usize::MAX)),
    }
}

/// Returns a workspace to the pool of its back end.
///
/// # Errors
/// InternalError if the build has no back end for the device type; ValueError if the workspace does
/// not belong to the device.
///
/// # Safety
/// `workspace` must come from [`allocate_workspace`] for the same device, and must be freed only
/// once.
pub unsafe fn free_workspace(
    device_type: i32,
    device_id: i32,
    workspace: NonNull<c_void>,
) -> Result<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { get(device_type)?.free_workspace(device_id, workspace) }
}

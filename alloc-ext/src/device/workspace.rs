//! Workspaces of compiled code on devices: `TVMBackendAllocWorkspace` for every device but the CPU.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::backend::workspace::{DeviceWorkspaces, install_device_workspaces};
use ferrite_core::error::{Result, out_of_memory};

use super::table::get;

static WORKSPACES: DeviceWorkspaces = DeviceWorkspaces { allocate, free };

/// Makes workspaces on devices come from the back ends of this module.
///
/// # Threads
/// Any; an atomic store.
pub fn install() {
    install_device_workspaces(&WORKSPACES);
}

fn allocate(device_type: i32, device_id: i32, size_bytes: u64) -> Result<NonNull<c_void>> {
    let backend = get(device_type)?;
    match usize::try_from(size_bytes) {
        Ok(bytes) => backend.allocate_workspace(device_id, bytes),
        Err(_) => Err(out_of_memory(usize::MAX)),
    }
}

/// # Safety
/// `workspace` comes from `allocate` for the same device, and is given back once.
unsafe fn free(device_type: i32, device_id: i32, workspace: NonNull<c_void>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { get(device_type)?.free_workspace(device_id, workspace) }
}

//! Workspaces on devices other than the CPU, allocated by installed functions.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use crate::abi::DLDevice;
use crate::error::{Error, Result};
use crate::plain_error;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::text::Writer;
use crate::value::device;

/// The functions that allocate and free workspaces on devices.
pub struct DeviceWorkspaces {
    /// Allocates `size_bytes` bytes on a device. The counterpart of
    /// [`alloc_workspace`](super::alloc_workspace) for main memory.
    pub allocate: fn(device_type: i32, device_id: i32, size_bytes: u64) -> Result<NonNull<c_void>>,
    /// Releases a workspace returned by `allocate` for the same device. Called once per workspace.
    pub free: unsafe fn(device_type: i32, device_id: i32, workspace: NonNull<c_void>) -> Result<()>,
}

static INSTALLED: AtomicPtr<DeviceWorkspaces> = AtomicPtr::new(ptr::null_mut());

/// Installs the workspace functions of all devices except the CPU. Without them, workspaces on such
/// devices are a ValueError.
///
/// # Safety
/// `allocate` must return memory of that size on the device, which is the caller's until `free`:
/// compiled code uses it.
pub unsafe fn install_device_workspaces(workspaces: &'static DeviceWorkspaces) {
    INSTALLED.store(ptr::from_ref(workspaces).cast_mut(), Ordering::Release);
}

fn installed(device_type: i32, device_id: i32) -> Result<&'static DeviceWorkspaces> {
    // SAFETY: only `install_device_workspaces` stores here, and only static references.
    let installed = unsafe { INSTALLED.load(Ordering::Acquire).cast_const().as_ref() };
    installed.ok_or_else(|| refusal(device_type, device_id))
}

pub(super) fn allocate(
    device_type: i32,
    device_id: i32,
    size_bytes: u64,
) -> Result<NonNull<c_void>> {
    (installed(device_type, device_id)?.allocate)(device_type, device_id, size_bytes)
}

/// Releases a workspace of a device.
///
/// # Safety
/// `workspace` must come from `allocate` for the same device, and be released once.
pub(super) unsafe fn free(
    device_type: i32,
    device_id: i32,
    workspace: NonNull<c_void>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { (installed(device_type, device_id)?.free)(device_type, device_id, workspace) }
}

#[cold]
fn refusal(device_type: i32, device_id: i32) -> Error {
    let mut text = [0u8; 32];
    let mut writer = Writer::new(&mut text);
    device::write_device(DLDevice { device_type, device_id }, &mut writer);
    let len = writer.wanted;
    let device = text.get(..len).unwrap_or_default();
    plain_error!(VALUE_ERROR, "there are no workspaces on device {}", device)
}

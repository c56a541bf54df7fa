//! Table of the buffers of all devices. The `data` pointer of a tensor is the handle of a buffer,
//! as in TVM's runtime for browsers.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::{PoisonError, RwLock};

use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_bail, plain_error};

use super::numbers::Numbers;

/// A WebGPU buffer.
#[derive(Clone)]
pub(super) struct Memory {
    pub(super) buffer: wgpu::Buffer,
    /// Requested size in bytes; the buffer may be larger.
    pub(super) bytes: usize,
    /// Id of the device.
    pub(super) device: i32,
}

/// Table of all buffers. A reader locks it only to clone a handle, and a launch only for buffers
/// that are not bound yet.
static BUFFERS: RwLock<Numbers<Memory>> = RwLock::new(Numbers::new());

/// Adds a buffer. Returns its handle.
///
/// # Errors
/// MemoryError.
pub(super) fn insert(memory: Memory) -> Result<NonNull<c_void>> {
    let number = BUFFERS.write().unwrap_or_else(PoisonError::into_inner).insert(memory)?;
    match NonNull::new(ptr::without_provenance_mut(number)) {
        Some(data) => Ok(data),
        None => plain_bail!(INTERNAL_ERROR, "A buffer has the number 0"),
    }
}

/// Returns the buffer with this handle.
///
/// # Errors
/// ValueError if there is none.
pub(super) fn get(number: usize) -> Result<Memory> {
    let buffers = BUFFERS.read().unwrap_or_else(PoisonError::into_inner);
    buffers.get(number).cloned().ok_or_else(|| unknown(number))
}

/// Removes a buffer from the table. Returns `None` if there is no buffer with this handle.
pub(super) fn remove(number: usize) -> Option<Memory> {
    BUFFERS.write().unwrap_or_else(PoisonError::into_inner).remove(number)
}

#[cold]
fn unknown(number: usize) -> Error {
    plain_error!(VALUE_ERROR, "There is no WebGPU buffer of the number {}", number)
}

//! The buffers of all devices. `data` of a tensor is the number of a buffer, as in TVM's runtime for browsers.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::{PoisonError, RwLock};

use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_bail, plain_error};

use super::numbers::Numbers;

/// A buffer.
#[derive(Clone)]
pub(super) struct Memory {
    pub(super) buffer: wgpu::Buffer,
    /// The bytes that were asked for; the buffer may have more.
    pub(super) bytes: usize,
    /// The id of the device.
    pub(super) device: i32,
}

/// Readers hold the lock for as long as it takes to clone a handle. Launches look up only buffers that they have not bound yet.
static BUFFERS: RwLock<Numbers<Memory>> = RwLock::new(Numbers::new());

/// Gives a buffer a number.
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

/// The buffer of a number.
///
/// # Errors
/// ValueError for any other number.
pub(super) fn get(number: usize) -> Result<Memory> {
    let buffers = BUFFERS.read().unwrap_or_else(PoisonError::into_inner);
    buffers.get(number).cloned().ok_or_else(|| unknown(number))
}

/// Takes a buffer out of the table.
pub(super) fn remove(number: usize) -> Option<Memory> {
    BUFFERS.write().unwrap_or_else(PoisonError::into_inner).remove(number)
}

#[cold]
fn unknown(number: usize) -> Error {
    plain_error!(VALUE_ERROR, "There is no WebGPU buffer of the number {}", number)
}

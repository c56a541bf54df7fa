//! Memory for the duration of a task, from the workspaces of the program, which keeps it for later
//! calls.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::kDLCPU;

use crate::arguments::{Raised, Result};

unsafe extern "C" {
    fn TVMBackendAllocWorkspace(
        device_type: c_int,
        device_id: c_int,
        bytes: u64,
        code: c_int,
        bits: c_int,
    ) -> *mut c_void;
    fn TVMBackendFreeWorkspace(device_type: c_int, device_id: c_int, memory: *mut c_void) -> c_int;
}

/// Workspace of the calling thread, aligned to 64 bytes on hosts, without values.
pub struct Scratch(*mut c_void);

impl Scratch {
    /// Allocates space for `count` numbers. Nothing is allocated for none.
    ///
    /// # Errors
    /// The error of the program, such as a MemoryError.
    pub fn new(count: usize) -> Result<Self> {
        if count == 0 {
            return Ok(Self(core::ptr::null_mut()));
        }
        let bytes = count.saturating_mul(size_of::<f32>()) as u64;
        // SAFETY: device 0 is main memory; the hints describe f32.
        let memory = unsafe { TVMBackendAllocWorkspace(kDLCPU, 0, bytes, 2, 32) };
        if memory.is_null() { Err(Raised::by_program()) } else { Ok(Self(memory)) }
    }

    /// Allocates space for `count` numbers that are zero.
    ///
    /// # Errors
    /// Same errors as `new`.
    pub fn zeros(count: usize) -> Result<Self> {
        let scratch = Self::new(count)?;
        if count != 0 {
            // SAFETY: the workspace has the numbers.
            unsafe { scratch.data().write_bytes(0, count) };
        }
        Ok(scratch)
    }

    /// Returns the first number.
    pub fn data(&self) -> *mut f32 {
        self.0.cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: `new` allocated the memory, on the same thread.
            unsafe { TVMBackendFreeWorkspace(kDLCPU, 0, self.0) };
        }
    }
}

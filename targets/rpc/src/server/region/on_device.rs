//! Places in the memory of any device: data pointer, which may be a handle, and offset.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::value::device::kind;

/// The first byte of a region.
#[derive(Clone, Copy)]
pub(in super::super) struct Place {
    pub(in super::super) data: *mut c_void,
    pub(in super::super) device: DLDevice,
    /// Distance in bytes from `data`.
    pub(in super::super) offset: usize,
}

impl Place {
    pub(super) fn of(tensor: &DLTensor) -> Place {
        Place { data: tensor.data, device: tensor.device, offset: tensor.byte_offset as usize }
    }

    pub(super) fn at(self, offset: usize) -> Place {
        Place { offset: self.offset.wrapping_add(offset), ..self }
    }

    pub(super) fn address(&self) -> (*mut c_void, u64) {
        if self.is_main_memory() {
            (self.start().cast(), 0)
        } else {
            (self.data, self.offset as u64)
        }
    }

    /// Returns `true` for memory of the CPU device.
    pub(in super::super) fn is_main_memory(&self) -> bool {
        self.device.device_type == kind::CPU
    }

    /// Returns the address, in main memory.
    pub(in super::super) fn start(&self) -> *mut u8 {
        self.data.cast::<u8>().wrapping_add(self.offset)
    }

    /// Returns `true` for a tensor without data.
    pub(in super::super) fn is_null(&self) -> bool {
        self.data.is_null()
    }
}

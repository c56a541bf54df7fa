//! Places in main memory: their address.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use ferrite_core::abi::DLTensor;

/// The first byte of a region.
#[derive(Clone, Copy)]
pub(in super::super) struct Place(*mut u8);

impl Place {
    pub(super) fn of(tensor: &DLTensor) -> Place {
        Place(tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize))
    }

    pub(super) fn at(self, offset: usize) -> Place {
        Place(self.0.wrapping_add(offset))
    }

    pub(super) fn address(&self) -> (*mut c_void, u64) {
        (self.0.cast(), 0)
    }

    pub(in super::super) fn is_main_memory(&self) -> bool {
        true
    }

    pub(in super::super) fn start(&self) -> *mut u8 {
        self.0
    }

    /// Returns `true` for a tensor without data.
    pub(in super::super) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

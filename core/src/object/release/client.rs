//! Destruction of dead objects in the loaded `libtvm_ffi`, which has the queue, and created most
//! objects.

use super::deleter::call_deleter;
use crate::abi::{TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskBoth};

/// Returns `false`: objects are queued by the deleters of the loaded library.
pub(super) fn defer(_: *mut TVMFFIObject) -> bool {
    false
}

/// Destroys a dead object.
///
/// # Safety
/// No reference to `object` may remain.
pub(super) unsafe fn destroy(object: *mut TVMFFIObject) {
    // SAFETY: no reference remains.
    unsafe { call_deleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth) };
}

pub(super) use destroy as destroy_single_threaded;

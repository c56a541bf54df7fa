//! Room in a tensor object for the managed tensor of one export, which needs no memory of its own then: hosts' tensors have it.

use core::mem::MaybeUninit;

use crate::abi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::is_alone;

/// Whether an export is in the room.
pub(super) type Flag = AtomicBool;

/// Room for a managed tensor of either form.
pub(super) type Room = MaybeUninit<DLManagedTensorVersioned>;

const _: () = assert!(
    size_of::<DLManagedTensor>() <= size_of::<Room>() && align_of::<DLManagedTensor>() <= align_of::<Room>()
);

/// The flag of a room without an export.
#[inline(always)]
pub(super) fn vacant() -> Flag {
    Flag::new(false)
}

/// Claims the room; false when an export is there. The room is the caller's then until it is given back.
#[inline(always)]
pub(super) fn claim(flag: &Flag) -> bool {
    if is_alone() {
        // A locked instruction would be most of what an export costs.
        let is_vacant = !flag.load(Ordering::Relaxed);
        flag.store(true, Ordering::Relaxed);
        return is_vacant;
    }
    // Acquire pairs with the Release below: the last consumer, on whatever thread, has done with the room.
    !flag.swap(true, Ordering::Acquire)
}

/// Gives back the room that the caller claimed.
#[inline(always)]
pub(super) fn give_back(flag: &Flag) {
    flag.store(false, Ordering::Release);
}

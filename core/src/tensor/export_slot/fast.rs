//! The export slot of a tensor: space in the object for the managed tensor of one export.

use core::mem::MaybeUninit;

use crate::abi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::platform::sync::atomic::{AtomicBool, Ordering};
use crate::platform::sync::is_single_threaded;

/// A flag that is set while the slot is in use.
pub(crate) type SlotFlag = AtomicBool;

/// Space for a managed tensor of either representation.
pub(crate) type ExportSlot = MaybeUninit<DLManagedTensorVersioned>;

const _: () = assert!(
    size_of::<DLManagedTensor>() <= size_of::<ExportSlot>()
        && align_of::<DLManagedTensor>() <= align_of::<ExportSlot>()
);

/// Creates the flag of an unused slot.
#[inline(always)]
pub(crate) fn vacant() -> SlotFlag {
    SlotFlag::new(false)
}

/// Claims the slot for the caller, who owns it until [`release`]. Returns `false` if it is in use.
#[inline(always)]
pub(crate) fn claim(flag: &SlotFlag) -> bool {
    if is_single_threaded() {
        // A locked instruction would be most of the cost of an export.
        let is_vacant = !flag.load(Ordering::Relaxed);
        flag.store(true, Ordering::Relaxed);
        return is_vacant;
    }
    // Acquire pairs with the Release below: the previous consumer no longer uses the slot.
    flag.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Releases a slot that the caller has claimed.
#[inline(always)]
pub(crate) fn release(flag: &SlotFlag) {
    flag.store(false, Ordering::Release);
}

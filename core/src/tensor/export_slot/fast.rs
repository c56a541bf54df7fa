//! The export slot: space in a tensor object for the managed tensor of one export.

use core::mem::MaybeUninit;

use crate::abi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::is_single_threaded;

/// Whether the slot is in use.
pub(crate) type SlotFlag = AtomicBool;

/// Space for a managed tensor of either form.
pub(crate) type ExportSlot = MaybeUninit<DLManagedTensorVersioned>;

const _: () = assert!(
    size_of::<DLManagedTensor>() <= size_of::<ExportSlot>()
        && align_of::<DLManagedTensor>() <= align_of::<ExportSlot>()
);

/// Makes the flag of a free slot.
#[inline(always)]
pub(crate) fn vacant() -> SlotFlag {
    SlotFlag::new(false)
}

/// Claims the slot. Returns `false` if it is in use; otherwise the caller owns it until [`release`].
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

/// Releases a slot that the caller claimed.
#[inline(always)]
pub(crate) fn release(flag: &SlotFlag) {
    flag.store(false, Ordering::Release);
}

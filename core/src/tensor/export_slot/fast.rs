//! Space in a tensor object for the managed tensor of one export.

use core::mem::MaybeUninit;

use crate::abi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::is_single_threaded;

/// Whether an export is in the space.
pub(crate) type SlotFlag = AtomicBool;

/// Space for a managed tensor of either form.
pub(crate) type ExportSlot = MaybeUninit<DLManagedTensorVersioned>;

const _: () = assert!(
    size_of::<DLManagedTensor>() <= size_of::<ExportSlot>()
        && align_of::<DLManagedTensor>() <= align_of::<ExportSlot>()
);

/// The flag of a space without an export.
#[inline(always)]
pub(crate) fn vacant() -> SlotFlag {
    SlotFlag::new(false)
}

/// Claims the space. Returns `false` if an export is there; otherwise the space is the caller's until it is given back.
#[inline(always)]
pub(crate) fn claim(flag: &SlotFlag) -> bool {
    if is_single_threaded() {
        // A locked instruction would be most of what an export costs.
        let is_vacant = !flag.load(Ordering::Relaxed);
        flag.store(true, Ordering::Relaxed);
        return is_vacant;
    }
    // Acquire pairs with the Release below: the last consumer, on whatever thread, has done with the room.
    flag.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Gives back the space that the caller claimed.
#[inline(always)]
pub(crate) fn release(flag: &SlotFlag) {
    flag.store(false, Ordering::Release);
}

//! Space in a tensor object for the managed tensor of one export.

use core::mem::MaybeUninit;

use crate::abi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::is_alone;

/// Whether an export is in the space.
pub(crate) type Flag = AtomicBool;

/// Space for a managed tensor of either form.
pub(crate) type Room = MaybeUninit<DLManagedTensorVersioned>;

const _: () = assert!(
    size_of::<DLManagedTensor>() <= size_of::<Room>() && align_of::<DLManagedTensor>() <= align_of::<Room>()
);

/// The flag of a space without an export.
#[inline(always)]
pub(crate) fn vacant() -> Flag {
    Flag::new(false)
}

/// Claims the space. Returns `false` if an export is there; otherwise the space is the caller's until it is given back.
#[inline(always)]
pub(crate) fn claim(flag: &Flag) -> bool {
    if is_alone() {
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
pub(crate) fn give_back(flag: &Flag) {
    flag.store(false, Ordering::Release);
}

//! No export slots, in size-optimised builds and on cores without compare-and-swap. In the former,
//! a slot would enlarge every tensor; on the latter, it could not be claimed atomically.
#![forbid(unsafe_code)]

pub(crate) struct SlotFlag;

pub(crate) struct ExportSlot;

/// Creates the flag, which stores nothing.
#[inline(always)]
pub(crate) fn vacant() -> SlotFlag {
    SlotFlag
}

/// Returns `false`: tensors have no export slot.
#[inline(always)]
pub(crate) fn claim(_: &SlotFlag) -> bool {
    false
}

/// Does nothing; never called, since no slot can be claimed.
#[inline(always)]
pub(crate) fn release(_: &SlotFlag) {}

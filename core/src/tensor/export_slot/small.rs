//! Export slots in size-optimised builds: none, since a slot would enlarge every tensor.
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

//! No export slot: it would enlarge every tensor.
#![forbid(unsafe_code)]

pub(crate) struct SlotFlag;

pub(crate) struct ExportSlot;

/// Makes an empty flag.
#[inline(always)]
pub(crate) fn vacant() -> SlotFlag {
    SlotFlag
}

/// Returns `false`: tensors have no slot.
#[inline(always)]
pub(crate) fn claim(_: &SlotFlag) -> bool {
    false
}

/// Never called.
#[inline(always)]
pub(crate) fn release(_: &SlotFlag) {}

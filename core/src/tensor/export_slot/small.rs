//! Tensors without space for managed tensors, on which they would spend memory.
#![forbid(unsafe_code)]

pub(crate) struct SlotFlag;

pub(crate) struct ExportSlot;

/// The flag of no space.
#[inline(always)]
pub(crate) fn vacant() -> SlotFlag {
    SlotFlag
}

/// Returns `false`: there is no space.
#[inline(always)]
pub(crate) fn claim(_: &SlotFlag) -> bool {
    false
}

/// Never called.
#[inline(always)]
pub(crate) fn release(_: &SlotFlag) {}

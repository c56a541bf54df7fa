//! Interrupts of a Cortex-M core, masked by PRIMASK.

use core::arch::asm;

/// Masks interrupts; gives PRIMASK as it was.
#[inline(always)]
pub(super) fn mask() -> usize {
    let before;
    // SAFETY: privileged code may do so at any time. The compiler moves no memory access across it.
    unsafe { asm!("mrs {}, PRIMASK", "cpsid i", out(reg) before, options(nostack, preserves_flags)) };
    before
}

/// Puts back what `mask` gave.
///
/// # Safety
/// `before` is what the matching `mask` gave.
#[inline(always)]
pub(super) unsafe fn restore(before: usize) {
    // SAFETY: as for `mask`; the register had this value.
    unsafe { asm!("msr PRIMASK, {}", in(reg) before, options(nostack, preserves_flags)) };
}

/// Goes to the fault handler.
#[cfg(not(feature = "minimal"))]
pub(super) fn fault() {
    // SAFETY: the instruction is undefined for good: it faults and does nothing else.
    unsafe { asm!("udf #0", options(nostack, preserves_flags)) };
}

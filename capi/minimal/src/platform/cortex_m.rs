//! Interrupt masking on Cortex-M by the PRIMASK register.

use core::arch::asm;

/// Masks interrupts. Returns the previous value of PRIMASK.
#[inline(always)]
pub(super) fn mask() -> usize {
    let before;
    // SAFETY: privileged code may mask interrupts at any time. The compiler moves no memory access
    // across the instruction.
    unsafe {
        asm!("mrs {}, PRIMASK", "cpsid i", out(reg) before, options(nostack, preserves_flags))
    };
    before
}

/// Restores the interrupt state returned by `mask`.
///
/// # Safety
/// `before` must come from the matching `mask`.
#[inline(always)]
pub(super) unsafe fn restore(before: usize) {
    // SAFETY: as for `mask`; the register had this value before.
    unsafe { asm!("msr PRIMASK, {}", in(reg) before, options(nostack, preserves_flags)) };
}

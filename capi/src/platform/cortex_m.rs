//! Interrupts of a Cortex-M core, masked by PRIMASK.

use core::arch::asm;
#[cfg(not(feature = "minimal"))]
use core::arch::naked_asm;

/// [`mask`] as a function of C; naked, so that it has no stack frame.
#[cfg(not(feature = "minimal"))]
#[unsafe(naked)]
pub(super) extern "C" fn lock() -> usize {
    naked_asm!("mrs r0, PRIMASK", "cpsid i", "bx lr")
}

/// Puts back what [`lock`] gave, as a function of C.
///
/// # Safety
/// `before` is what the matching `lock` gave.
#[cfg(not(feature = "minimal"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn unlock(before: usize) {
    naked_asm!("msr PRIMASK, r0", "bx lr")
}

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
#[cfg(feature = "minimal")]
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

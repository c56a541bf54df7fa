//! Interrupt masking on Cortex-M by the PRIMASK register, and the fault that ends a program.

use core::arch::asm;
use core::arch::naked_asm;

/// Masks interrupts, as a C function. Naked, to avoid a stack frame.
#[unsafe(naked)]
pub(super) extern "C" fn lock() -> usize {
    naked_asm!("mrs r0, PRIMASK", "cpsid i", "bx lr")
}

/// Restores the interrupt state returned by [`lock`], as a C function.
///
/// # Safety
/// `before` must come from the matching `lock`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn unlock(before: usize) {
    naked_asm!("msr PRIMASK, r0", "bx lr")
}

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

/// Triggers a fault, which enters the fault handler.
pub(super) fn fault() {
    // SAFETY: the instruction is permanently undefined: it faults and has no other effect.
    unsafe { asm!("udf #0", options(nostack, preserves_flags)) };
}

//! Interrupt masking on RISC-V in machine mode by `mstatus.MIE`.

use core::arch::asm;

/// Bit of `mstatus` that enables interrupts in machine mode.
const MIE: usize = 8;

/// Masks interrupts. Returns the previous MIE bit.
#[inline(always)]
pub(super) fn mask() -> usize {
    let before: usize;
    // SAFETY: machine-mode code may mask interrupts at any time. The compiler moves no memory
    // access across the instruction.
    unsafe {
        asm!("csrrci {}, mstatus, {MIE}", out(reg) before, MIE = const MIE, options(nostack))
    };
    before & MIE
}

/// Restores the interrupt state returned by `mask`.
///
/// # Safety
/// `before` must come from the matching `mask`.
#[inline(always)]
pub(super) unsafe fn restore(before: usize) {
    // SAFETY: as for `mask`; the bit was set before.
    unsafe { asm!("csrs mstatus, {}", in(reg) before, options(nostack)) };
}

//! Interrupt masking on RISC-V in machine mode by `mstatus.MIE`, and the trap that ends a program.

use core::arch::asm;
use core::arch::naked_asm;

/// Bit of `mstatus` that enables interrupts in machine mode.
const MIE: usize = 8;

/// Masks interrupts, as a C function. Naked, to avoid a stack frame.
#[unsafe(naked)]
pub(super) extern "C" fn lock() -> usize {
    naked_asm!("csrrci a0, mstatus, {MIE}", "andi a0, a0, {MIE}", "ret", MIE = const MIE)
}

/// Restores the interrupt state returned by [`lock`], as a C function.
///
/// # Safety
/// `before` must come from the matching `lock`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn unlock(before: usize) {
    naked_asm!("csrs mstatus, a0", "ret")
}

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

/// Triggers an exception, which enters the trap handler.
pub(super) fn fault() {
    // SAFETY: the instruction is permanently illegal: it traps and has no other effect.
    unsafe { asm!("unimp", options(nostack)) };
}

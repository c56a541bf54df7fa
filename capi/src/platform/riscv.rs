//! Interrupts of a RISC-V core in machine mode, masked by the bit MIE of `mstatus`.

use core::arch::asm;
#[cfg(not(feature = "minimal"))]
use core::arch::naked_asm;

/// The bit that lets interrupts through.
const MIE: usize = 8;

/// [`mask`] as a function of C; naked, so that it has no stack frame.
#[cfg(not(feature = "minimal"))]
#[unsafe(naked)]
pub(super) extern "C" fn lock() -> usize {
    naked_asm!("csrrci a0, mstatus, {MIE}", "andi a0, a0, {MIE}", "ret", MIE = const MIE)
}

/// Puts back what [`lock`] gave, as a function of C.
///
/// # Safety
/// `before` is what the matching `lock` gave.
#[cfg(not(feature = "minimal"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn unlock(before: usize) {
    naked_asm!("csrs mstatus, a0", "ret")
}

/// Masks interrupts; gives whether they were let through.
#[inline(always)]
pub(super) fn mask() -> usize {
    let before: usize;
    // SAFETY: code in machine mode may do so at any time. The compiler moves no memory access across it.
    unsafe { asm!("csrrci {}, mstatus, {MIE}", out(reg) before, MIE = const MIE, options(nostack)) };
    before & MIE
}

/// Lets interrupts through if they were before `mask`.
///
/// # Safety
/// `before` is what the matching `mask` gave.
#[cfg(feature = "minimal")]
#[inline(always)]
pub(super) unsafe fn restore(before: usize) {
    // SAFETY: as for `mask`; the bit is one that was set.
    unsafe { asm!("csrs mstatus, {}", in(reg) before, options(nostack)) };
}

/// Goes to the trap handler.
#[cfg(not(feature = "minimal"))]
pub(super) fn fault() {
    // SAFETY: the instruction is illegal for good: it traps and does nothing else.
    unsafe { asm!("unimp", options(nostack)) };
}

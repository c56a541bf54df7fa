//! The most stack that was in use: cortex-m-rt paints it before the program runs.

use core::ptr;

use cortex_m_rt::STACK_PAINT_VALUE;

unsafe extern "C" {
    /// From the linker script: the stack grows down from the one to the other.
    static _stack_start: u32;
    static _stack_end: u32;
}

/// Bytes from the top of the stack down to the last word that was written.
pub fn most_used() -> usize {
    let (top, mut at) = (&raw const _stack_start, &raw const _stack_end);
    // SAFETY: the words between the two symbols are memory; those in use are only read.
    while at < top && unsafe { ptr::read_volatile(at) } == STACK_PAINT_VALUE {
        at = at.wrapping_add(1);
    }
    top.addr() - at.addr()
}

//! Maximum stack use: cortex-m-rt paints the stack before the program runs.

use core::ptr;

use cortex_m_rt::STACK_PAINT_VALUE;

unsafe extern "C" {
    /// Ends of the stack from the linker script: it grows down from the first to the second.
    static _stack_start: u32;
    static _stack_end: u32;
}

/// Returns the bytes from the top of the stack down to the last word that was written.
pub fn most_used() -> usize {
    let (top, mut at) = (&raw const _stack_start, &raw const _stack_end);
    // SAFETY: the words between the two symbols are memory; those in use are only read.
    while at < top && unsafe { ptr::read_volatile(at) } == STACK_PAINT_VALUE {
        at = at.wrapping_add(1);
    }
    top.addr() - at.addr()
}

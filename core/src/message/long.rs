//! Numbers of 64 bits in messages of hosts: no more than those of 32.

use crate::text::Writer;

/// Nothing to do.
#[inline(always)]
pub(super) fn link() {}

/// Writes the number at `number`.
///
/// # Safety
/// There is an `i64`, or when `is_signed` is false, a `u64`.
#[inline]
pub(super) unsafe fn put(number: *const u8, is_signed: bool, out: &mut Writer<'_>) {
    // SAFETY: the caller's promise.
    match unsafe { number.cast::<i64>().read() } {
        number if is_signed => out.put_number(number),
        number => out.put_digits(number.cast_unsigned()),
    }
}

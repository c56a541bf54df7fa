//! 64-bit numbers as message arguments, in speed-optimised builds.

use crate::platform::text::Writer;

/// Does nothing: the code that writes 64-bit numbers is always linked.
#[inline(always)]
pub(in crate::error::message) fn link() {}

/// Writes the number at `number`.
///
/// # Safety
/// `number` must point to an `i64`, or to a `u64` if `is_signed` is false.
#[inline]
pub(in crate::error::message) unsafe fn put(
    number: *const u8,
    is_signed: bool,
    out: &mut Writer<'_>,
) {
    // SAFETY: the caller's promise.
    match unsafe { number.cast::<i64>().read() } {
        number if is_signed => out.put_number(number),
        number => out.put_unsigned(number.cast_unsigned()),
    }
}

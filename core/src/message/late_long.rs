//! Numbers of 64 bits in messages of boards: only programs that make such an argument link the code that writes it.

use crate::late::Late;
use crate::text::Writer;

/// As [`put`].
type Put = unsafe fn(*const u8, bool, &mut Writer<'_>);

static PUT: Late<Put> = Late::new();

/// Called for each argument that is such a number.
pub(super) fn link() {
    static PUT_LONG: Put = put_long;
    PUT.set(Some(&PUT_LONG));
}

/// Writes the number at `number`.
///
/// # Safety
/// There is an `i64`, or when `is_signed` is false, a `u64`; and [`link`] was called.
#[inline]
pub(super) unsafe fn put(number: *const u8, is_signed: bool, out: &mut Writer<'_>) {
    if let Some(put) = PUT.get() {
        // SAFETY: the caller's promise.
        unsafe { put(number, is_signed, out) };
    }
}

/// # Safety
/// As for [`put`].
unsafe fn put_long(number: *const u8, is_signed: bool, out: &mut Writer<'_>) {
    // SAFETY: the caller's promise.
    match unsafe { number.cast::<i64>().read() } {
        number if is_signed => out.put_number(number),
        number => out.put_digits(number.cast_unsigned()),
    }
}

//! 64-bit numbers in messages, lazily linked: only programs with such an argument contain the code that writes it.

use crate::lazy_link::LazyLink;
use crate::text::Writer;

/// The signature of [`put_long`].
type Put = unsafe fn(*const u8, bool, &mut Writer<'_>);

static PUT: LazyLink<Put> = LazyLink::new();

/// Links the code that writes such numbers; called for each such argument.
pub(in crate::message) fn link() {
    static PUT_LONG: Put = put_long;
    PUT.set(Some(&PUT_LONG));
}

/// Writes the number at `number`.
///
/// # Safety
/// `number` points to an `i64`, or to a `u64` if `is_signed` is false; [`link`] was called.
#[inline]
pub(in crate::message) unsafe fn put(number: *const u8, is_signed: bool, out: &mut Writer<'_>) {
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

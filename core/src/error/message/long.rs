//! 64-bit numbers as message arguments, lazily linked: only firmware with such an argument contains
//! the code that writes it.

use crate::platform::lazy_link::LazyLink;
use crate::platform::text::Writer;

/// The signature of [`put_long`].
type Put = unsafe fn(*const u8, bool, &mut Writer<'_>);

static PUT: LazyLink<Put> = LazyLink::new();

/// Links the code that writes 64-bit numbers. Called for each 64-bit argument.
pub(super) fn link() {
    static PUT_LONG: Put = put_long;
    PUT.set(Some(&PUT_LONG));
}

/// Writes the number at `number`.
///
/// # Safety
/// `number` must point to an `i64`, or to a `u64` if `is_signed` is false, and [`link`] must have
/// been called.
#[inline]
pub(super) unsafe fn put(number: *const u8, is_signed: bool, out: &mut Writer<'_>) {
    if let Some(put) = PUT.get() {
        // SAFETY: the caller's promise.
        unsafe { put(number, is_signed, out) };
    }
}

/// Implements [`put`]. Reached only through the pointer that [`link`] sets.
///
/// # Safety
/// Same requirements as [`put`].
unsafe fn put_long(number: *const u8, is_signed: bool, out: &mut Writer<'_>) {
    // SAFETY: the caller's promise.
    match unsafe { number.cast::<i64>().read() } {
        number if is_signed => out.put_number(number),
        number => out.put_unsigned(number.cast_unsigned()),
    }
}

//! Bytes, C strings and decimal numbers, without `memcpy`, `strlen` or formatting.

use core::ffi::c_char;
use core::mem::MaybeUninit;

/// Copies bytes one by one.
///
/// # Safety
/// As [`core::ptr::copy_nonoverlapping`].
#[inline(never)]
pub(super) unsafe fn copy(from: &[u8], to: *mut u8) {
    let mut to = to;
    for byte in from {
        // SAFETY: as the caller vouches. Volatile, or the compiler would call `memcpy` instead.
        unsafe {
            to.write_volatile(*byte);
            to = to.add(1);
        }
    }
}

/// The content of a C string.
///
/// # Safety
/// `text` is zero-terminated and stays as it is for `'a`.
#[inline(never)]
pub unsafe fn c_str<'a>(text: *const c_char) -> &'a [u8] {
    let mut end = text;
    // SAFETY: the pointer does not pass the zero. Volatile, or the compiler would call `strlen` instead.
    unsafe {
        while end.read_volatile() != 0 {
            end = end.add(1);
        }
        core::slice::from_raw_parts(text.cast(), end.offset_from_unsigned(text))
    }
}

/// Room for a decimal number as a C string.
pub(super) type Decimal = MaybeUninit<[u8; DIGITS + 1]>;

/// Digits of the largest number.
const DIGITS: usize = if usize::BITS == 32 { 10 } else { 20 };

/// Writes a number; the text is good as long as its room.
#[inline(never)]
pub(super) fn decimal(room: &mut Decimal, mut number: usize) -> *const c_char {
    // SAFETY: there is room for a zero behind as many digits as a number can have.
    unsafe {
        let mut first = room.as_mut_ptr().cast::<u8>().add(DIGITS);
        *first = 0;
        loop {
            first = first.sub(1);
            *first = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return first.cast();
            }
        }
    }
}

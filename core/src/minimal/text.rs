//! Bytes, C strings and decimal numbers, without `memcpy`, `strlen` or formatting.

use core::ffi::c_char;
use core::mem::MaybeUninit;

/// Copies bytes one by one.
///
/// # Safety
/// As [`core::ptr::copy_nonoverlapping`].
#[inline(always)]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, count: usize) {
    let (mut from, mut to, mut left) = (from, to, count);
    while left != 0 {
        // SAFETY: as the caller vouches. Volatile, or the compiler would call `memcpy` instead.
        unsafe {
            to.write_volatile(*from);
            (from, to) = (from.add(1), to.add(1));
        }
        left -= 1;
    }
}

/// The length of a C string; 1 for null, so that null does not pass for an empty text.
///
/// # Safety
/// `text` is null or zero-terminated.
#[inline(always)]
pub unsafe fn c_str_len(text: *const c_char) -> usize {
    if text.is_null() {
        return 1;
    }
    let mut end = text;
    // SAFETY: the pointer does not pass the zero. Volatile, or the compiler would call `strlen` instead.
    unsafe {
        while end.read_volatile() != 0 {
            end = end.add(1);
        }
        end.offset_from_unsigned(text)
    }
}

/// Room for a decimal number as a C string: digits of the largest number, and a zero.
pub type Decimal = [u8; if usize::BITS == 32 { 11 } else { 21 }];

/// Writes a number in decimal; the text is valid as long as `room`.
#[inline(never)]
pub fn decimal(room: &mut MaybeUninit<Decimal>, mut number: usize) -> *const c_char {
    // SAFETY: there is room for a zero behind as many digits as a number can have.
    unsafe {
        let mut first = room.as_mut_ptr().add(1).cast::<u8>().sub(1);
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

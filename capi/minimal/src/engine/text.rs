//! Copying bytes, measuring C strings and writing decimal numbers, without linking `memcpy`,
//! `strlen` or formatting code.

use core::ffi::c_char;
use core::mem::MaybeUninit;

/// Copies `count` bytes one at a time.
///
/// # Safety
/// Same requirements as [`core::ptr::copy_nonoverlapping`].
#[inline(always)]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, count: usize) {
    let (mut from, mut to, mut left) = (from, to, count);
    while left != 0 {
        // SAFETY: the caller's promise. Volatile, since the compiler would call `memcpy` otherwise.
        unsafe {
            to.write_volatile(*from);
            (from, to) = (from.add(1), to.add(1));
        }
        left -= 1;
    }
}

/// Returns the length of a C string, or 1 for null, to distinguish it from an empty string.
///
/// # Safety
/// `text` must be null or zero-terminated.
#[inline(always)]
pub unsafe fn c_str_len(text: *const c_char) -> usize {
    if text.is_null() {
        return 1;
    }
    let mut end = text;
    // SAFETY: the pointer does not pass the zero. Volatile, since the compiler would call `strlen`
    // otherwise.
    unsafe {
        while end.read_volatile() != 0 {
            end = end.add(1);
        }
        end.offset_from_unsigned(text)
    }
}

/// A buffer for a decimal number as a C string: the digits of the largest number and a terminating
/// zero.
pub type Decimal = [u8; if usize::BITS == 32 { 11 } else { 21 }];

/// Writes a number in decimal to `room`, and returns the address of its first digit.
#[inline(never)]
pub fn decimal(room: &mut MaybeUninit<Decimal>, mut number: usize) -> *const c_char {
    // SAFETY: the buffer has space for the digits of any number and a zero.
    unsafe {
        let mut first = room.as_mut_ptr().add(1).cast::<u8>().sub(1);
        *first = 0;
        loop {
            let tens = number / 10;
            first = first.sub(1);
            // The digit, modulo 256: eight bytes of flash less than a remainder.
            *first = b'0'.wrapping_add(number as u8).wrapping_sub((tens as u8).wrapping_mul(10));
            number = tens;
            if number == 0 {
                return first.cast();
            }
        }
    }
}

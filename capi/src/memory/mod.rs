//! Size-optimised memory functions that compilers call, such as `memcpy`: byte loops that take 100
//! bytes of flash instead of 3 KB, for firmware that copies little data.
//!
//! They are weak symbols, so that a C library's functions take precedence. The loops use volatile
//! accesses, since the compiler would turn plain ones into calls of these very functions.

use core::ffi::{c_int, c_void};

/// Defines weak symbols as aliases of Rust functions.
#[cfg(target_os = "none")]
macro_rules! weak {
    ($($function:ident: $($name:literal)+;)+) => {
        $($(core::arch::global_asm!(
            concat!(".weak ", $name),
            concat!(".set ", $name, ", {}"),
            sym $function
        );)+)+
    };
}

#[cfg(all(target_os = "none", target_arch = "arm"))]
mod arm;
#[cfg(not(all(target_os = "none", cortex_m)))]
mod loops;
#[cfg(all(target_os = "none", cortex_m))]
#[path = "cortex_m.rs"]
mod loops;

use loops::{copy, fill, length};

#[cfg(target_os = "none")]
weak! {
    copy: "memcpy";
    copy_overlapping: "memmove";
    fill: "memset";
    compare: "memcmp" "bcmp";
    length: "strlen";
}

/// Implements `memmove`: copies between buffers that may overlap.
///
/// # Safety
/// `bytes` bytes must be readable at `from` and writable at `to`.
unsafe extern "C" fn copy_overlapping(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    if to.cast_const() > from {
        // SAFETY: the caller's promise.
        return unsafe { copy(to, from, bytes) };
    }
    for at in 0..bytes {
        // SAFETY: the caller's promise.
        unsafe {
            to.cast::<u8>().add(at).write_volatile(from.cast::<u8>().add(at).read_volatile())
        };
    }
    to
}

/// Implements `memcmp`: compares two buffers byte by byte.
///
/// # Safety
/// `bytes` bytes must be readable at `one` and at `other`.
unsafe extern "C" fn compare(one: *const c_void, other: *const c_void, bytes: usize) -> c_int {
    for at in 0..bytes {
        // SAFETY: the caller's promise.
        let difference = unsafe {
            c_int::from(one.cast::<u8>().add(at).read_volatile())
                - c_int::from(other.cast::<u8>().add(at).read_volatile())
        };
        if difference != 0 {
            return difference;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    #[test]
    fn bytes_are_copied_and_filled() {
        let mut to = [0u8; 8];
        // SAFETY: the ranges are within the array.
        unsafe {
            assert_eq!(
                copy((&raw mut to[1]).cast(), c"abcdef".as_ptr().cast(), 6),
                (&raw mut to[1]).cast()
            );
            fill((&raw mut to[2]).cast(), 0x178, 2);
            copy(ptr::dangling_mut(), ptr::dangling(), 0);
        }
        assert_eq!(&to, b"\0axxdef\0");
    }

    #[test]
    fn overlapping_bytes_are_moved_either_way() {
        let mut bytes = *b"abcdef";
        let start: *mut u8 = bytes.as_mut_ptr();
        // SAFETY: the ranges are within the array.
        unsafe {
            copy_overlapping(start.add(1).cast(), start.cast(), 4);
            assert_eq!(*start.cast::<[u8; 6]>(), *b"aabcdf");
            copy_overlapping(start.cast(), start.add(2).cast(), 4);
            assert_eq!(*start.cast::<[u8; 6]>(), *b"bcdfdf");
        }
    }

    #[test]
    fn bytes_are_compared_without_sign() {
        let compare = |one: &[u8], other: &[u8]| {
            // SAFETY: both have that many bytes.
            unsafe { compare(one.as_ptr().cast(), other.as_ptr().cast(), one.len()) }
        };
        assert_eq!(compare(b"same", b"same"), 0);
        assert!(compare(b"a\xff", b"a\x01") > 0 && compare(b"ab", b"ac") < 0);
    }

    #[test]
    fn a_text_is_as_long_as_its_bytes() {
        assert_eq!(
            // SAFETY: the strings end with a zero.
            unsafe { (length(c"".as_ptr().cast()), length(c"four".as_ptr().cast())) },
            (0, 4)
        );
    }
}

//! Strings that take ownership of the buffer in which their content was composed.

use core::alloc::Layout;
use core::mem::size_of;
use core::ptr::NonNull;

use super::super::record::BytesRecord;
use super::super::value_of;
use crate::abi::{TVMFFIByteArray, type_index};
use crate::error::Result;
use crate::object::object_alloc::adopt;
use crate::platform::memory::{self, Buffer};
use crate::value::any::Any;

/// Number of bytes to leave free at the start of the buffer, for the head of the string object.
pub(in crate::value::string) const LEAD_BYTES: usize = adopt::LEAD_BYTES + size_of::<BytesRecord>();

/// Minimum length of strings that take ownership of their buffer. Shorter content is copied into an
/// object of minimal size.
const MIN_BYTES: usize = 1024;

/// Creates a string from the content of a buffer, beginning at `start`.
///
/// # Errors
/// MemoryError.
pub(in crate::value::string) fn string_of(mut buffer: Buffer<u8>, start: usize) -> Result<Any> {
    let text = buffer.get(start..).unwrap_or_default();
    if start < LEAD_BYTES || text.len() < MIN_BYTES || !adopt::takes_blocks() {
        return value_of(type_index::SMALL_STR, text);
    }
    buffer.try_push(0)?;
    let (block, len, capacity) = buffer.into_raw_parts();
    let block = shrink(block, len, capacity);
    let init = |record: *mut BytesRecord| {
        // SAFETY: the record is uninitialised and owned here, and the text is within the block.
        unsafe {
            let data = block.add(start).as_ptr().cast();
            (&raw mut (*record).array).write(TVMFFIByteArray { data, size: len - 1 - start });
        }
    };
    // SAFETY: the block came from the buffer and has the lead bytes before the text; `malloc`
    // aligns it; init fills the record, which needs no destruction.
    Ok(unsafe { adopt::adopt(type_index::STR, block, init) }.into_any())
}

/// Maximum capacity of blocks that are shrunk. Larger blocks keep their unused end: its pages were
/// never written and take no memory, and requesting new pages for each string would take longer
/// than writing it.
const MAX_SHRUNK_BYTES: usize = 64 << 10;

/// Shrinks a block to `len` bytes if more than an eighth of `len` is unused. Large blocks stay
/// unchanged.
fn shrink(block: NonNull<u8>, len: usize, capacity: usize) -> NonNull<u8> {
    if capacity > MAX_SHRUNK_BYTES || capacity - len <= len / 8 {
        return block;
    }
    match (Layout::array::<u8>(capacity), Layout::array::<u8>(len)) {
        // SAFETY: the block came from a buffer with this capacity; a block that cannot be shrunk
        // stays unchanged.
        (Ok(old), Ok(new)) => unsafe { memory::resize(block, old, new).unwrap_or(block) },
        _ => block,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::value::string::String;
    use std::vec::Vec;

    #[test]
    fn texts_of_any_length_and_start_become_strings() -> Result<()> {
        for len in [0, 7, 8, MIN_BYTES - 1, MIN_BYTES, 5_000, MAX_SHRUNK_BYTES + 1] {
            let text: Vec<u8> = (0..len).map(|at| b'a' + (at % 26) as u8).collect();
            for start in [0, LEAD_BYTES, LEAD_BYTES + 13] {
                let mut buffer = Buffer::new();
                buffer.try_resize(start, b'-')?;
                buffer.try_extend_from_slice(&text)?;
                let string = String::from_buffer(buffer, start)?;
                assert_eq!(string.as_bytes(), text);
            }
        }
        Ok(())
    }

    /// Long strings keep their buffer if there is space before them. Others are copies, which take
    /// less memory.
    #[test]
    #[cfg_attr(miri, ignore = "Miri moves blocks that shrink")]
    fn long_texts_with_space_before_them_stay_where_they_are() -> Result<()> {
        for (start, len, stays) in [
            (LEAD_BYTES, MIN_BYTES, true),
            (LEAD_BYTES + 13, 5_000, true),
            (LEAD_BYTES - 1, MIN_BYTES, false),
            (LEAD_BYTES, MIN_BYTES - 1, false),
        ] {
            let mut buffer = Buffer::try_with_capacity(start + len + 1)?;
            buffer.try_resize(start + len, b'x')?;
            let text = buffer[start..].as_ptr();
            let string = String::from_buffer(buffer, start)?;
            let content = string.as_bytes();
            assert_eq!(content.as_ptr() == text, stays, "{len} bytes behind {start}");
            // SAFETY: a NUL follows the content of string objects.
            assert_eq!((content.len(), unsafe { content.as_ptr().add(len).read() }), (len, 0));
        }
        Ok(())
    }

    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    #[test]
    fn blocks_of_middle_size_are_shrunk_if_an_eighth_is_unused() {
        unsafe extern "C" {
            fn malloc_usable_size(block: *const u8) -> usize;
        }
        for (len, capacity, is_shrunk) in [
            (8 << 10, 16 << 10, true),
            (8 << 10, (9 << 10) + 8, true),
            (8 << 10, 9 << 10, false),
            (MAX_SHRUNK_BYTES / 2, MAX_SHRUNK_BYTES, true),
            (MAX_SHRUNK_BYTES / 2, MAX_SHRUNK_BYTES + 1, false),
        ] {
            let block = memory::allocate(Layout::array::<u8>(capacity).unwrap()).unwrap();
            let block = shrink(block, len, capacity);
            // SAFETY: the block came from `malloc`.
            let usable = unsafe { malloc_usable_size(block.as_ptr()) };
            assert_eq!(usable < capacity, is_shrunk, "{len} of {capacity} bytes");
            // SAFETY: the block is not used any more; `free` ignores the layout.
            unsafe { memory::release(block, Layout::array::<u8>(len).unwrap()) };
        }
    }
}

//! Strings that take over the buffer in which their text was composed.

use core::alloc::Layout;
use core::mem::size_of;
use core::ptr::NonNull;

use super::super::record::BytesRecord;
use super::super::value_of;
use crate::abi::TVMFFIByteArray;
use crate::any::Any;
use crate::error::Result;
use crate::memory::{self, Buffer};
use crate::object_alloc::adopt;
use crate::type_index;

/// Bytes that such a buffer starts with, which become the head of the object.
pub(in crate::string) const LEAD_BYTES: usize = adopt::LEAD_BYTES + size_of::<BytesRecord>();

/// Shorter texts are copied, so that their objects are as small as they can be.
const LEAST_BYTES: usize = 1024;

/// The text of a buffer from `start` on.
///
/// # Errors
/// MemoryError.
pub(in crate::string) fn string_of(mut buffer: Buffer<u8>, start: usize) -> Result<Any> {
    let text = buffer.get(start..).unwrap_or_default();
    if start < LEAD_BYTES || text.len() < LEAST_BYTES || !adopt::takes_blocks() {
        return value_of(type_index::SMALL_STR, text);
    }
    buffer.try_push(0)?;
    let (block, len, capacity) = buffer.into_raw_parts();
    let block = shrink(block, len, capacity);
    let init = |record: *mut BytesRecord| {
        // SAFETY: the record is ours to fill, and the text is within the block.
        unsafe {
            let data = block.add(start).as_ptr().cast();
            (&raw mut (*record).array).write(TVMFFIByteArray { data, size: len - 1 - start });
        }
    };
    // SAFETY: the block was the buffer's and has its lead in front of the text; `malloc` aligns it; init fills the record,
    // which needs no destruction.
    Ok(unsafe { adopt::adopt(type_index::STR, block, init) }.into_any())
}

/// Larger blocks keep what they have beyond the text: pages that were never written take no memory, and taking them from the
/// system anew for each text takes longer than writing it.
const MOST_SHRUNK_BYTES: usize = 64 << 10;

/// Gives back what a block has beyond `len` bytes, when that is much of it.
fn shrink(block: NonNull<u8>, len: usize, capacity: usize) -> NonNull<u8> {
    if capacity > MOST_SHRUNK_BYTES || capacity - len <= len / 8 {
        return block;
    }
    match (Layout::array::<u8>(capacity), Layout::array::<u8>(len)) {
        // SAFETY: the block was that of a buffer with this capacity; one that cannot be made smaller stays as it is.
        (Ok(old), Ok(new)) => unsafe { memory::resize(block, old, new).unwrap_or(block) },
        _ => block,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::string::String;
    use std::vec::Vec;

    #[test]
    fn texts_of_any_length_and_start_become_strings() -> Result<()> {
        for len in [0, 7, 8, LEAST_BYTES - 1, LEAST_BYTES, 5_000, MOST_SHRUNK_BYTES + 1] {
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
}

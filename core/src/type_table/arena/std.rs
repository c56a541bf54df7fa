//! Memory of the type table: blocks that are carved from the front and never given back.
//!
//! C readers keep the addresses of type records, names and arrays for ever, so nothing here is ever freed.
//! Blocks are chained, so leak checkers see all of it from the table.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};

use crate::error::{Error, out_of_memory};
use crate::memory;

/// Bytes of an ordinary block: a few types with their fields on a host, one or two on a small board.
const BLOCK_BYTES: usize = if size_of::<usize>() == 8 { 8192 } else { 512 };
/// Every block starts at, and every carved piece may ask for up to, this alignment.
const BLOCK_ALIGN: usize = 8;

/// Memory was refused, for this many bytes. The error object is made after the lock is let go: its memory may
/// come from a user's allocator.
#[derive(Debug)]
pub(in crate::type_table) struct NoMemory(pub usize);

impl NoMemory {
    /// The refusal of `bytes` bytes.
    #[inline]
    pub(in crate::type_table) fn of(bytes: usize) -> NoMemory {
        NoMemory(bytes)
    }

    pub(in crate::type_table) fn into_error(self) -> Error {
        out_of_memory(self.0)
    }
}

/// Head of a block; the pieces follow it.
#[repr(C, align(8))]
struct ArenaBlock {
    previous: *mut ArenaBlock,
}

/// A bump allocator that never frees.
pub(in crate::type_table) struct Arena {
    newest: Cell<*mut ArenaBlock>,
    /// First free byte of the newest block, and how many bytes are left there.
    free: Cell<*mut u8>,
    left_bytes: Cell<usize>,
}

// SAFETY: `newest` and `free` point into memory that this arena alone hands out; moving the arena to another
// thread moves that right with it, and `left_bytes` is a number.
unsafe impl Send for Arena {}

impl Arena {
    pub(in crate::type_table) const fn new() -> Self {
        Arena {
            newest: Cell::new(ptr::null_mut()),
            free: Cell::new(ptr::null_mut()),
            left_bytes: Cell::new(0),
        }
    }

    /// Room for `bytes` bytes, not none, at a multiple of `align`, which is at most [`BLOCK_ALIGN`].
    #[inline(always)]
    pub(in crate::type_table) fn carve(&self, bytes: usize, align: usize) -> Result<NonNull<u8>, NoMemory> {
        loop {
            // The end of the block is aligned to anything that is asked for, so what is left tells how the start is.
            let left = self.left_bytes.get();
            let skip = left & (align - 1);
            if let Some(left_bytes) = (left - skip).checked_sub(bytes) {
                let piece = self.free.get().wrapping_add(skip);
                self.free.set(piece.wrapping_add(bytes));
                self.left_bytes.set(left_bytes);
                // SAFETY: the piece lies in a block, which is not null: it takes some of the bytes that are left there.
                return Ok(unsafe { NonNull::new_unchecked(piece) });
            }
            self.add_block(bytes)?;
        }
    }

    /// Space for `bytes` zero bytes, not none, at a multiple of `align`.
    pub(in crate::type_table) fn carve_zeroed(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        let piece = self.carve(bytes, align)?;
        // SAFETY: the piece has room for so many bytes, and is nobody else's yet.
        unsafe { piece.write_bytes(0, bytes) };
        Ok(piece)
    }

    #[cold]
    #[inline(never)]
    fn add_block(&self, piece_bytes: usize) -> Result<(), NoMemory> {
        let refused = NoMemory::of(piece_bytes);
        let room = piece_bytes.max(BLOCK_BYTES - size_of::<ArenaBlock>());
        let Ok(layout) = Layout::from_size_align(room.saturating_add(size_of::<ArenaBlock>()), BLOCK_ALIGN)
        else {
            return Err(refused);
        };
        let layout = layout.pad_to_align();
        let Some(block) = memory::allocate(layout) else { return Err(refused) };
        let block = block.cast::<ArenaBlock>();
        // SAFETY: the block is fresh and holds the head and at least `room` bytes after it.
        unsafe {
            block.write(ArenaBlock { previous: self.newest.get() });
            self.free.set(block.add(1).as_ptr().cast());
        }
        self.newest.set(block.as_ptr());
        self.left_bytes.set(layout.size() - size_of::<ArenaBlock>());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frees the blocks: tests make arenas of their own, and leak checkers watch them.
    fn free_all(arena: Arena) {
        let mut block = arena.newest.get();
        while !block.is_null() {
            // SAFETY: the chain holds live blocks made by `add_block`, each released once; sizes are the
            // ordinary one.
            unsafe {
                let previous = (*block).previous;
                let layout = Layout::from_size_align(BLOCK_BYTES, BLOCK_ALIGN).unwrap();
                memory::release(NonNull::new(block).unwrap().cast(), layout);
                block = previous;
            }
        }
    }

    #[test]
    fn pieces_are_aligned_and_apart() {
        let arena = Arena::new();
        let text = arena.carve(4, 1).unwrap();
        let words = arena.carve(3 * size_of::<u64>(), align_of::<u64>()).unwrap().cast::<u64>();
        assert_eq!(words.as_ptr() as usize % align_of::<u64>(), 0);
        // SAFETY: the arena gave room for three words, and for four bytes in front of them.
        unsafe {
            words.write(u64::MAX);
            text.cast::<[u8; 4]>().write(*b"abc\0");
            assert_eq!(words.read(), u64::MAX);
        }
        free_all(arena);
    }

    #[test]
    fn a_full_block_is_followed_by_another() {
        let arena = Arena::new();
        let first = arena.carve(BLOCK_BYTES / 2 + 1, 1).unwrap();
        let second = arena.carve(BLOCK_BYTES / 2 + 1, 1).unwrap();
        assert_ne!(first, second);
        assert!(arena.carve(usize::MAX / 2, 8).is_err());
        free_all(arena);
    }
}

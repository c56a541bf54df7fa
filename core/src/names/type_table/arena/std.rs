//! Memory of the type table: a bump allocator over blocks that are never freed.
//!
//! C readers may keep the addresses of type records, names and arrays forever. Blocks are linked,
//! so that leak checkers reach all of them from the table.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};

use crate::error::{Error, out_of_memory};
use crate::platform::memory;

/// Minimum size of a block in bytes: enough for a few types with their fields on 64-bit targets,
/// and for one or two on 32-bit targets.
const BLOCK_BYTES: usize = if size_of::<usize>() == 8 { 8192 } else { 512 };
/// Alignment of blocks, and maximum alignment of pieces.
const BLOCK_ALIGN: usize = 8;

/// The failure to allocate this many bytes. It is converted to an error after the lock is released,
/// because a custom allocator may allocate the error object.
#[derive(Debug)]
pub(in crate::names::type_table) struct NoMemory(pub usize);

impl NoMemory {
    /// Creates the failure to allocate `bytes` bytes.
    #[inline]
    pub(in crate::names::type_table) fn of(bytes: usize) -> NoMemory {
        NoMemory(bytes)
    }

    pub(in crate::names::type_table) fn into_error(self) -> Error {
        out_of_memory(self.0)
    }
}

/// Header of a block; pieces follow it.
#[repr(C, align(8))]
struct ArenaBlock {
    previous: *mut ArenaBlock,
}

/// A bump allocator for memory that is never freed.
pub(in crate::names::type_table) struct Arena {
    newest: Cell<*mut ArenaBlock>,
    /// Address of the first free byte in the newest block.
    free: Cell<*mut u8>,
    left_bytes: Cell<usize>,
}

// SAFETY: `newest` and `free` point into memory owned by this arena, which moves between threads as
// a whole; `left_bytes` is a number.
unsafe impl Send for Arena {}

impl Arena {
    pub(in crate::names::type_table) const fn new() -> Self {
        Arena {
            newest: Cell::new(ptr::null_mut()),
            free: Cell::new(ptr::null_mut()),
            left_bytes: Cell::new(0),
        }
    }

    /// Allocates `bytes` bytes at a multiple of `align`. `bytes` is not 0, and `align` is at most
    /// [`BLOCK_ALIGN`].
    #[inline(always)]
    pub(in crate::names::type_table) fn carve(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        loop {
            // The end of the block has the maximum alignment, so the number of free bytes gives the
            // alignment of the start.
            let left = self.left_bytes.get();
            let skip = left & (align - 1);
            if let Some(left_bytes) = (left - skip).checked_sub(bytes) {
                let piece = self.free.get().wrapping_add(skip);
                self.free.set(piece.wrapping_add(bytes));
                self.left_bytes.set(left_bytes);
                // SAFETY: the piece lies within the free bytes of a block, which is not null.
                return Ok(unsafe { NonNull::new_unchecked(piece) });
            }
            self.add_block(bytes)?;
        }
    }

    /// Allocates `bytes` zero-initialised bytes at a multiple of `align`. `bytes` is not 0.
    pub(in crate::names::type_table) fn carve_zeroed(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        let piece = self.carve(bytes, align)?;
        // SAFETY: the piece has that many bytes, and is not shared yet.
        unsafe { piece.write_bytes(0, bytes) };
        Ok(piece)
    }

    #[cold]
    #[inline(never)]
    fn add_block(&self, piece_bytes: usize) -> Result<(), NoMemory> {
        let refused = NoMemory::of(piece_bytes);
        let room = piece_bytes.max(BLOCK_BYTES - size_of::<ArenaBlock>());
        let Ok(layout) =
            Layout::from_size_align(room.saturating_add(size_of::<ArenaBlock>()), BLOCK_ALIGN)
        else {
            return Err(refused);
        };
        let layout = layout.pad_to_align();
        let Some(block) = memory::allocate(layout) else { return Err(refused) };
        let block = block.cast::<ArenaBlock>();
        // SAFETY: the block is new and has space for the header and at least `room` bytes after it.
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

    /// Frees the blocks of a test's own arena, for leak checkers.
    fn free_all(arena: Arena) {
        let mut block = arena.newest.get();
        while !block.is_null() {
            // SAFETY: the chain holds live blocks made by `add_block`, each released once; sizes
            // are the ordinary one.
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
        // SAFETY: the arena allocated three words, and four bytes before them.
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

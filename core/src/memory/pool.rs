//! A fixed pool of blocks for builds without a heap: first fit in a free list that is kept in address order.
//!
//! The pool lies in a static of [`POOL_BYTES`] zero bytes, so it costs no flash, and is not linked when nothing
//! allocates. Every block starts with a 4-byte size and is a multiple of 8 bytes long; its content follows the size
//! at a multiple of 8. A free block also holds the offset of the next free one. Neighbours that become free are
//! joined, so the list has no two adjacent blocks.
//!
//! ```text
//! offset   4         8                            4 + size
//!          +---------+----------------------------+
//! used     | size    | content, 8-byte aligned ...|  size  ...
//!          +---------+---------+------------------+
//! free     | size    | next    | unused           |  size  ...
//!          +---------+---------+------------------+
//! ```

use crate::config::POOL_BYTES;
use crate::sync::Mutex;
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// Takes a block from the pool.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let mut state = POOL.lock();
    // SAFETY: `ARENA` belongs to `POOL` alone, whose lock is held.
    unsafe { state.allocate(ARENA.start(), layout) }
}

/// Gives a block back to the pool.
///
/// # Safety
/// `block` came from this pool and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, _layout: Layout) {
    let mut state = POOL.lock();
    // SAFETY: `ARENA` belongs to `POOL` alone, whose lock is held; the block is the caller's promise.
    unsafe { state.release(ARENA.start(), block) }
}

/// How full the pool is, in bytes, sizes of blocks included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Bytes that can be handed out at all.
    pub capacity: usize,
    /// Bytes in use now.
    pub used: usize,
    /// The most bytes that were ever in use at once.
    pub high_water: usize,
}

/// Reads how full the pool is; for choosing `FERRITE_POOL_BYTES`.
pub fn stats() -> Stats {
    let state = POOL.lock();
    Stats { capacity: state.capacity(), used: state.used as usize, high_water: state.high_water as usize }
}

static POOL: Mutex<Pool> = Mutex::new(Pool::new(POOL_BYTES));
static ARENA: Arena<POOL_BYTES> = Arena::new();

const _: () = assert!(POOL_BYTES >= 64 && POOL_BYTES < 1 << 31, "FERRITE_POOL_BYTES is out of range");

/// Bytes of a block's size, and of a free block's link.
const WORD: u32 = 4;
/// Granularity of sizes and alignment of contents.
const UNIT: u32 = 8;
/// Offset of the first block: its content is then at a multiple of [`UNIT`].
const FIRST: u32 = UNIT - WORD;
/// A link to no block: zero, so that a fresh pool is all zero bytes; no block starts there.
const NONE: u32 = 0;

/// The memory itself, aligned for every record of the ABI.
#[repr(C, align(16))]
struct Arena<const BYTES: usize>(UnsafeCell<[MaybeUninit<u8>; BYTES]>);

// SAFETY: the bytes are only touched through the raw pointer of `start`, by the pool while its lock is held and by
// the owners of blocks.
unsafe impl<const BYTES: usize> Sync for Arena<BYTES> {}

impl<const BYTES: usize> Arena<BYTES> {
    const fn new() -> Self {
        Self(UnsafeCell::new([MaybeUninit::zeroed(); BYTES]))
    }

    fn start(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

/// The free list and the counts over an arena of `bytes` bytes; all zero but for the size until the first request.
struct Pool {
    bytes: u32,
    /// Offset of the first free block, once `ready`.
    free: u32,
    used: u32,
    high_water: u32,
    ready: bool,
}

/// A piece of a free block that was found to satisfy a request.
struct Fit {
    /// The free block before, or [`NONE`].
    before: u32,
    block: u32,
    block_bytes: u32,
    /// Where in the free block the new one starts: later than the block itself for large alignments.
    at: u32,
}

impl Pool {
    const fn new(bytes: usize) -> Self {
        Self { bytes: bytes as u32, free: NONE, used: 0, high_water: 0, ready: false }
    }

    const fn capacity(&self) -> usize {
        ((self.bytes - FIRST) / UNIT * UNIT) as usize
    }

    /// # Safety
    /// `arena` points to this pool's memory, which nobody else uses meanwhile; the same goes for all that follow.
    unsafe fn allocate(&mut self, arena: *mut u8, layout: Layout) -> Option<NonNull<u8>> {
        let wanted = block_bytes(layout)?;
        // SAFETY: the caller's promise.
        unsafe {
            self.prepare(arena);
            let fit = self.find(arena, wanted, layout.align())?;
            self.take(arena, &fit, wanted);
            self.used += wanted;
            self.high_water = self.high_water.max(self.used);
            NonNull::new(arena.add((fit.at + WORD) as usize))
        }
    }

    /// Makes the whole arena one free block, at the first request.
    ///
    /// # Safety
    /// As `allocate`.
    unsafe fn prepare(&mut self, arena: *mut u8) {
        if !self.ready {
            self.ready = true;
            self.free = FIRST;
            // SAFETY: the caller's promise; the arena has room for a block.
            unsafe { write_free(arena, FIRST, self.capacity() as u32, NONE) };
        }
    }

    /// Finds the first free block that has `wanted` bytes from a place whose content is aligned.
    ///
    /// # Safety
    /// As `allocate`.
    unsafe fn find(&self, arena: *mut u8, wanted: u32, align: usize) -> Option<Fit> {
        let (mut before, mut block) = (NONE, self.free);
        while block != NONE {
            // SAFETY: `block` comes from the free list.
            let (block_bytes, next) = unsafe { (read(arena, block), read(arena, block + WORD)) };
            if let Some(at) = aligned_start(arena, block, align)
                && u64::from(at) + u64::from(wanted) <= u64::from(block) + u64::from(block_bytes)
            {
                return Some(Fit { before, block, block_bytes, at });
            }
            (before, block) = (block, next);
        }
        None
    }

    /// Cuts the new block out of the free one; what lies before and behind it stays free.
    ///
    /// # Safety
    /// As `allocate`; `fit` was found in this list for `wanted` bytes.
    unsafe fn take(&mut self, arena: *mut u8, fit: &Fit, wanted: u32) {
        let (front, end) = (fit.at - fit.block, fit.block + fit.block_bytes);
        let tail = end - (fit.at + wanted);
        // SAFETY: all offsets lie in the free block that `find` saw, at multiples of the unit from its start.
        unsafe {
            let mut next = read(arena, fit.block + WORD);
            if tail != 0 {
                write_free(arena, end - tail, tail, next);
                next = end - tail;
            }
            if front != 0 {
                write_free(arena, fit.block, front, next);
            } else {
                self.link(arena, fit.before, next);
            }
            write(arena, fit.at, wanted);
        }
    }

    /// # Safety
    /// As `allocate`; `content` came from this pool and is no longer used.
    unsafe fn release(&mut self, arena: *mut u8, content: NonNull<u8>) {
        let block = (content.addr().get() - arena.addr()) as u32 - WORD;
        // SAFETY: the caller's promise: a size lies before the content; the list holds free blocks only.
        unsafe {
            let bytes = read(arena, block);
            self.used -= bytes;
            let (before, next) = self.neighbours(arena, block);
            self.insert(arena, before, block, bytes, next);
        }
    }

    /// The free blocks around an offset.
    ///
    /// # Safety
    /// As `allocate`.
    unsafe fn neighbours(&self, arena: *mut u8, block: u32) -> (u32, u32) {
        let (mut before, mut next) = (NONE, self.free);
        while next != NONE && next < block {
            before = next;
            // SAFETY: `next` comes from the free list.
            next = unsafe { read(arena, next + WORD) };
        }
        (before, next)
    }

    /// Links a free block in, joined with the neighbours that it touches.
    ///
    /// # Safety
    /// As `release`; `before` and `next` are the neighbours of `block`.
    unsafe fn insert(&mut self, arena: *mut u8, before: u32, block: u32, bytes: u32, next: u32) {
        let (mut bytes, mut after) = (bytes, next);
        // SAFETY: the three blocks are free and in this arena.
        unsafe {
            if next != NONE && block + bytes == next {
                after = read(arena, next + WORD);
                bytes += read(arena, next);
            }
            if before != NONE && before + read(arena, before) == block {
                write_free(arena, before, read(arena, before) + bytes, after);
            } else {
                write_free(arena, block, bytes, after);
                self.link(arena, before, block);
            }
        }
    }

    /// Makes `next` follow `before`, or lead the list.
    ///
    /// # Safety
    /// As `allocate`; `before` is a free block or [`NONE`].
    unsafe fn link(&mut self, arena: *mut u8, before: u32, next: u32) {
        if before == NONE {
            self.free = next;
        } else {
            // SAFETY: the caller's promise.
            unsafe { write(arena, before + WORD, next) };
        }
    }
}

/// Bytes of a block for a request: its size word and its content, rounded up.
fn block_bytes(layout: Layout) -> Option<u32> {
    let bytes = layout.size().checked_add((WORD + UNIT - 1) as usize)? / UNIT as usize * UNIT as usize;
    u32::try_from(bytes.max(UNIT as usize)).ok().filter(|bytes| *bytes < 1 << 31)
}

/// The first offset from `block` on where a block's content is a multiple of `align`.
fn aligned_start(arena: *mut u8, block: u32, align: usize) -> Option<u32> {
    if align <= UNIT as usize {
        return Some(block);
    }
    let content = arena.addr().checked_add((block + WORD) as usize)?;
    let skip = content.checked_next_multiple_of(align)? - content;
    block.checked_add(u32::try_from(skip).ok()?)
}

/// # Safety
/// `at` lies in the arena at a multiple of 4 and holds an initialised word.
unsafe fn read(arena: *mut u8, at: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { arena.add(at as usize).cast::<u32>().read() }
}

/// # Safety
/// `at` lies in the arena at a multiple of 4, in a block that the caller may change.
unsafe fn write(arena: *mut u8, at: u32, word: u32) {
    // SAFETY: the caller's promise.
    unsafe { arena.add(at as usize).cast::<u32>().write(word) }
}

/// # Safety
/// As `write`, for the two words of a free block.
unsafe fn write_free(arena: *mut u8, at: u32, bytes: u32, next: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        write(arena, at, bytes);
        write(arena, at + WORD, next);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    /// A pool over its own 1 KiB, with 1,016 bytes to hand out.
    struct Own {
        arena: &'static Arena<1024>,
        pool: Pool,
    }

    impl Drop for Own {
        fn drop(&mut self) {
            // SAFETY: the arena came from a box, and the tests keep no blocks.
            drop(unsafe { Box::from_raw(core::ptr::from_ref(self.arena).cast_mut()) });
        }
    }

    impl Own {
        fn new() -> Self {
            Self { arena: Box::leak(Box::new(Arena::new())), pool: Pool::new(1024) }
        }

        fn allocate(&mut self, size: usize, align: usize) -> Option<NonNull<u8>> {
            let block = {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the arena belongs to this pool alone.
                unsafe { self.pool.allocate(self.arena.start(), layout) }?
            };
            // SAFETY: the pool handed out `size` bytes; filling them shows blocks that overlap.
            unsafe { block.write_bytes(0xAA, size) };
            Some(block)
        }

        fn release(&mut self, block: NonNull<u8>) {
            // SAFETY: the tests release each block once.
            unsafe { self.pool.release(self.arena.start(), block) }
        }
    }

    #[test]
    fn everything_given_back_is_one_block_again() {
        let mut own = Own::new();
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
            let blocks: Vec<_> = (0..3).map(|_| own.allocate(100, 8).unwrap()).collect();
            order.iter().for_each(|at: &usize| own.release(blocks[*at]));
            assert_eq!(own.pool.used, 0);
            let whole = own.allocate(1012, 8).expect("the blocks were joined");
            own.release(whole);
        }
    }

    #[test]
    fn a_full_pool_answers_none_and_recovers() {
        let mut own = Own::new();
        let mut blocks = Vec::new();
        while let Some(block) = own.allocate(28, 8) {
            blocks.push(block);
        }
        assert_eq!(blocks.len(), 1016 / 32);
        assert!(own.allocate(1013, 8).is_none());
        blocks.drain(..).for_each(|block| own.release(block));
        assert!(own.allocate(1012, 8).is_some());
        assert!(own.allocate(1, 1).is_none());
    }

    #[test]
    fn large_alignments_leave_the_front_free() {
        let mut own = Own::new();
        let small = own.allocate(8, 8).unwrap();
        for align in [16, 64, 128] {
            let block = own.allocate(8, align).unwrap();
            assert_eq!(block.addr().get() % align, 0);
            own.release(block);
        }
        own.release(small);
        assert!(own.allocate(1012, 8).is_some());
    }

    #[test]
    fn absurd_requests_are_refused() {
        let mut own = Own::new();
        for (size, align) in [(isize::MAX as usize - 7, 8), (8, 1 << 30), (1 << 30, 8)] {
            assert!(own.allocate(size, align).is_none());
        }
        assert_eq!(own.pool.high_water, 0);
    }

    #[test]
    fn the_high_water_mark_stays() {
        let mut own = Own::new();
        let block = own.allocate(500, 8).unwrap();
        own.release(block);
        assert_eq!((own.pool.used, own.pool.high_water), (0, 504));
    }

    #[test]
    fn many_sizes_in_mixed_order_never_overlap() {
        let mut own = Own::new();
        let mut held: Vec<(NonNull<u8>, usize, u8)> = Vec::new();
        let mut random = 1u32;
        for round in 0..if cfg!(miri) { 100 } else { 2_000_u32 } {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let size = (random >> 24) as usize % 96;
            match own.allocate(size, 1 << ((random >> 16) % 6)) {
                Some(block) if random & 0x100 == 0 => {
                    // SAFETY: the block is `size` bytes long.
                    unsafe { block.write_bytes(round as u8, size) };
                    held.push((block, size, round as u8));
                }
                Some(block) => own.release(block),
                None => {}
            }
            if held.len() > 8 {
                let (block, size, fill) = held.swap_remove(random as usize % 8);
                // SAFETY: the block is `size` bytes long and was filled above.
                assert!((0..size).all(|at| unsafe { block.add(at).read() } == fill));
                own.release(block);
            }
        }
        held.drain(..).for_each(|(block, ..)| own.release(block));
        assert!(own.allocate(1012, 8).is_some());
    }
}

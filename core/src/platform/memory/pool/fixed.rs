//! A block pool for builds without a heap: first-fit allocation from a free list sorted by address.
//!
//! The pool starts with a static region of [`POOL_BYTES`] zero bytes, which costs no flash and is
//! not linked if nothing allocates. A program may add regions. Every block starts with a word that
//! stores its size, a multiple of two words; its content follows at an address that is a multiple
//! of two words. A free block also stores the address of the next free block. Adjacent free blocks
//! are always joined; regions are never joined.
//!
//! ```text
//! region   word      2 words                        word + size
//!          +---------+----------------------------+
//! used     | size    | content, aligned ...       |  size  ...
//!          +---------+---------+------------------+
//! free     | size    | next    | unused           |  size  ...
//!          +---------+---------+------------------+
//! ```

use super::PoolStats;
use crate::platform::config::POOL_BYTES;
use crate::platform::sync::critical;
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

/// Allocates a block from the pool. Returns `None` when out of memory.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    with_pool(|pool| pool.allocate(layout))
}

/// Returns a block to the pool.
///
/// # Safety
/// `block` must come from this pool and no longer be used.
#[inline]
pub unsafe fn release(block: NonNull<u8>) {
    // SAFETY: the caller's promise.
    with_pool(|pool| unsafe { pool.release(block) });
}

/// Adds a region of `bytes` bytes at `start` to the pool. Returns `false` if it is too small for a
/// block.
///
/// # Safety
/// The caller transfers ownership of these bytes to the pool.
pub unsafe fn add_region(start: NonNull<u8>, bytes: usize) -> bool {
    // SAFETY: the caller's promise.
    with_pool(|pool| unsafe { pool.add_region(start.as_ptr(), bytes) })
}

/// Returns the usage statistics of the pool, which help to choose its size.
pub fn stats() -> PoolStats {
    with_pool(|pool| PoolStats {
        capacity: pool.capacity,
        used: pool.used,
        high_water: pool.high_water,
    })
}

/// Returns the size of the largest allocation that would succeed now. The time grows with the
/// number of free blocks.
pub fn largest_free() -> usize {
    with_pool(|pool| pool.largest_free())
}

/// Calls `body` with the pool while its lock is held. Adds the static region to the pool first.
fn with_pool<R>(body: impl FnOnce(&mut Pool) -> R) -> R {
    critical(|| {
        // SAFETY: critical sections exclude each other, and the pool's operations neither nest them
        // nor call out.
        let pool = unsafe { &mut *POOL.0.get() };
        pool.prepare();
        body(pool)
    })
}

/// The pool of the program, protected by a critical section.
struct SharedPool(UnsafeCell<Pool>);

// SAFETY: the pool is only borrowed in critical sections, and may be used by any thread.
unsafe impl Sync for SharedPool {}

static POOL: SharedPool = SharedPool(UnsafeCell::new(Pool::new()));
static REGION: StaticRegion<POOL_BYTES> = StaticRegion::new();

const _: () = assert!(POOL_BYTES < isize::MAX as usize / 2, "FERRITE_POOL_BYTES is out of range");

/// Size of the size field of a block, and of the link of a free block.
const WORD: usize = size_of::<usize>();
/// Granularity of block sizes, and alignment of block contents.
const UNIT: usize = 2 * WORD;

/// A static region of the pool, aligned for every record of the ABI.
#[repr(C, align(16))]
struct StaticRegion<const BYTES: usize>(UnsafeCell<[MaybeUninit<u8>; BYTES]>);

// SAFETY: the bytes are only accessed through the raw pointer of `start`, by the pool while its
// lock is held and by the owners of blocks.
unsafe impl<const BYTES: usize> Sync for StaticRegion<BYTES> {}

impl<const BYTES: usize> StaticRegion<BYTES> {
    const fn new() -> Self {
        Self(UnsafeCell::new([MaybeUninit::zeroed(); BYTES]))
    }

    fn start(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

/// The header of a free block.
#[repr(C)]
struct FreeBlock {
    bytes: usize,
    /// The next free block, at a higher address, or null.
    next: *mut FreeBlock,
}

/// The free list and the statistics. The pool owns all its memory exclusively, except for the
/// content of allocated blocks. The callers of `add_region` guarantee this, and the unsafe blocks
/// below rely on it.
struct Pool {
    free: *mut FreeBlock,
    capacity: usize,
    used: usize,
    high_water: usize,
}

// SAFETY: the pool owns the blocks of its list.
unsafe impl Send for Pool {}

impl Pool {
    const fn new() -> Self {
        Self { free: ptr::null_mut(), capacity: 0, used: 0, high_water: 0 }
    }

    /// Adds the static region to the pool on first use.
    fn prepare(&mut self) {
        let usable = usable(POOL_BYTES, FIRST_SKIPPED);
        if usable != 0 && self.capacity == 0 {
            // SAFETY: the region belongs to the program's one pool and is added once; its start is
            // aligned.
            unsafe { self.add_block(REGION.start().add(FIRST_SKIPPED), usable) };
        }
    }

    /// Adds a region to the pool as one free block. Returns `false` if it is too small.
    ///
    /// # Safety
    /// The caller must transfer ownership of the `bytes` bytes at `start` to this pool.
    unsafe fn add_region(&mut self, start: *mut u8, bytes: usize) -> bool {
        let skipped = skipped(start.addr());
        let usable = usable(bytes, skipped);
        if usable != 0 {
            // SAFETY: the block lies in the region, aligned as blocks are.
            unsafe { self.add_block(start.add(skipped), usable) };
        }
        usable != 0
    }

    /// Adds `usable` bytes at `block` to the pool as a free block.
    ///
    /// # Safety
    /// A block of `usable` bytes may start at `block`, and the caller must transfer ownership of
    /// these bytes to this pool.
    unsafe fn add_block(&mut self, block: *mut u8, usable: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            block.cast::<usize>().write(usable);
            self.insert(block.cast());
        }
        self.capacity += usable;
    }

    fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let wanted = block_bytes(layout);
        let mut link = &raw mut self.free;
        // SAFETY: `link` is the head of the list or the link of a free block.
        unsafe {
            while let Some(block) = (*link).as_mut() {
                let front = bytes_before(block, layout.align());
                if let Some(rest) =
                    block.bytes.checked_sub(front).and_then(|room| room.checked_sub(wanted))
                {
                    self.used += wanted;
                    self.high_water = self.high_water.max(self.used);
                    return NonNull::new(cut(link, front, wanted, rest));
                }
                link = &raw mut block.next;
            }
        }
        None
    }

    /// Returns a block to the free list.
    ///
    /// # Safety
    /// `content` must come from this pool and no longer be used.
    unsafe fn release(&mut self, content: NonNull<u8>) {
        // SAFETY: the caller's promise: the size lies before the content.
        unsafe {
            let block = content.as_ptr().sub(WORD).cast::<FreeBlock>();
            self.used -= block.cast::<usize>().read();
            self.insert(block);
        }
    }

    /// Inserts a block into the free list and joins it with adjacent blocks.
    ///
    /// # Safety
    /// The block must belong to the pool, be unused, not be in the list, and have its size set.
    unsafe fn insert(&mut self, block: *mut FreeBlock) {
        let (mut before, mut next) = (ptr::null_mut::<FreeBlock>(), self.free);
        // SAFETY: `before` and `next` are free blocks or null.
        unsafe {
            while !next.is_null() && next < block {
                (before, next) = (next, (*next).next);
            }
            (&raw mut (*block).next).write(next);
            join(block);
            if before.is_null() {
                self.free = block;
            } else {
                (*before).next = block;
                join(before);
            }
        }
    }

    fn largest_free(&self) -> usize {
        let (mut largest, mut block) = (WORD, self.free);
        // SAFETY: `block` is in the list.
        while let Some(free) = unsafe { block.as_ref() } {
            largest = largest.max(free.bytes);
            block = free.next;
        }
        largest - WORD
    }
}

/// Joins a free block with the next free block if they are adjacent.
///
/// # Safety
/// `block` must be a free block of the list.
unsafe fn join(block: *mut FreeBlock) {
    // SAFETY: the caller's promise; the next block of the list is free, too.
    unsafe {
        let next = (*block).next;
        if block.byte_add((*block).bytes) == next {
            (*block).bytes += (*next).bytes;
            (*block).next = (*next).next;
        }
    }
}

/// Allocates `wanted` bytes within the free block at `link`. The parts before and after them stay
/// free. Returns the address of the content.
///
/// # Safety
/// `link` must point to a free block of `front + wanted + rest` bytes, each a multiple of the unit.
unsafe fn cut(link: *mut *mut FreeBlock, front: usize, wanted: usize, rest: usize) -> *mut u8 {
    // SAFETY: the caller's promise: all writes are within the free block.
    unsafe {
        let block = *link;
        let taken = block.byte_add(front);
        let mut next = (*block).next;
        if rest != 0 {
            let tail = taken.byte_add(wanted);
            tail.write(FreeBlock { bytes: rest, next });
            next = tail;
        }
        if front != 0 {
            block.write(FreeBlock { bytes: front, next });
        } else {
            *link = next;
        }
        taken.cast::<usize>().write(wanted);
        taken.cast::<u8>().add(WORD)
    }
}

/// Returns the number of bytes of a region that precede its first block. At least one word stays
/// unused, so that blocks of two regions are never adjacent.
const fn skipped(start: usize) -> usize {
    (start + 2 * WORD).next_multiple_of(UNIT) - WORD - start
}

/// Number of bytes that precede the first block of the static region, whose start is aligned.
const FIRST_SKIPPED: usize = skipped(0);

/// Returns the number of bytes of a region that blocks can use.
const fn usable(bytes: usize, skipped: usize) -> usize {
    bytes.saturating_sub(skipped) / UNIT * UNIT
}

/// Returns the size of the block for a request: the size word and the content, rounded up. A layout
/// is at most half the address space, so the sum does not overflow.
fn block_bytes(layout: Layout) -> usize {
    (layout.size() + WORD + UNIT - 1) & !(UNIT - 1)
}

/// Returns the distance from the start of a free block to the first position at which the content
/// of a block would be aligned to `align`.
fn bytes_before(block: *const FreeBlock, align: usize) -> usize {
    let content = block.addr() + WORD;
    // The two's complement of an address is its distance to the next multiple of a power of two,
    // modulo that power.
    content.wrapping_neg() & (align - 1)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    /// A pool with a region of 1 KiB.
    struct TestPool {
        region: *mut StaticRegion<1024>,
        pool: Pool,
    }

    /// The largest request that fits an empty test pool.
    const WHOLE: usize = (1024 - WORD) / UNIT * UNIT - WORD;

    impl Drop for TestPool {
        fn drop(&mut self) {
            // SAFETY: the region came from a box, and no block is used any more.
            drop(unsafe { Box::from_raw(self.region) });
        }
    }

    impl TestPool {
        fn new() -> Self {
            let mut own =
                Self { region: Box::into_raw(Box::new(StaticRegion::new())), pool: Pool::new() };
            // SAFETY: the region belongs to this pool alone.
            assert!(unsafe { own.pool.add_region(own.region.cast(), 1024) });
            own
        }

        fn allocate(&mut self, size: usize, align: usize) -> Option<NonNull<u8>> {
            let block = self.pool.allocate(Layout::from_size_align(size, align).unwrap())?;
            // SAFETY: the block has `size` bytes; filling them reveals overlapping blocks.
            unsafe { block.write_bytes(0xAA, size) };
            Some(block)
        }

        fn release(&mut self, block: NonNull<u8>) {
            // SAFETY: the tests release each block once.
            unsafe { self.pool.release(block) }
        }
    }

    #[test]
    fn everything_given_back_is_one_block_again() {
        let mut own = TestPool::new();
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
            let blocks: Vec<_> = (0..3).map(|_| own.allocate(100, 8).unwrap()).collect();
            order.iter().for_each(|at: &usize| own.release(blocks[*at]));
            assert_eq!(own.pool.used, 0);
            let whole = own.allocate(WHOLE, 8).expect("the blocks were joined");
            own.release(whole);
        }
    }

    #[test]
    fn a_full_pool_answers_none_and_recovers() {
        let mut own = TestPool::new();
        let mut blocks = Vec::new();
        while let Some(block) = own.allocate(2 * UNIT - WORD, 8) {
            blocks.push(block);
        }
        assert_eq!(blocks.len(), (1024 - WORD) / (2 * UNIT));
        assert_eq!(own.pool.largest_free(), own.pool.capacity - own.pool.used - WORD);
        blocks.drain(..).for_each(|block| own.release(block));
        assert_eq!(own.pool.largest_free(), WHOLE);
        assert!(own.allocate(WHOLE + 1, 8).is_none());
        assert!(own.allocate(WHOLE, 8).is_some());
        assert!(own.allocate(1, 1).is_none());
        assert_eq!(own.pool.largest_free(), 0);
    }

    #[test]
    fn large_alignments_leave_the_front_free() {
        let mut own = TestPool::new();
        let small = own.allocate(8, 8).unwrap();
        for align in [UNIT, 64, 128] {
            let block = own.allocate(8, align).unwrap();
            assert_eq!(block.addr().get() % align, 0);
            own.release(block);
        }
        own.release(small);
        assert!(own.allocate(WHOLE, 8).is_some());
    }

    #[test]
    fn absurd_requests_are_refused() {
        let mut own = TestPool::new();
        for (size, align) in [(isize::MAX as usize - 7, 8), (8, 1 << 30), (1 << 30, 8)] {
            assert!(own.allocate(size, align).is_none());
        }
        assert_eq!(own.pool.high_water, 0);
    }

    #[test]
    fn the_high_water_mark_stays() {
        let mut own = TestPool::new();
        let block = own.allocate(500, 8).unwrap();
        own.release(block);
        assert_eq!((own.pool.used, own.pool.high_water), (0, (500 + WORD).next_multiple_of(UNIT)));
    }

    #[test]
    fn many_sizes_in_mixed_order_never_overlap() {
        let mut own = TestPool::new();
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
        assert!(own.allocate(WHOLE, 8).is_some());
    }

    #[test]
    fn a_pool_without_memory_refuses() {
        let mut pool = Pool::new();
        assert_eq!((pool.largest_free(), pool.capacity), (0, 0));
        assert!(pool.allocate(Layout::new::<u8>()).is_none());
    }

    #[test]
    fn regions_anywhere_serve_and_are_not_joined() {
        let memory = Box::into_raw(Box::new(StaticRegion::<512>::new())).cast::<u8>();
        for cut in [64, 200, 203, 256, 449] {
            let mut pool = Pool::new();
            // SAFETY: the two pieces are apart, and the box lives until the end of the test.
            unsafe {
                assert!(pool.add_region(memory.add(cut), 512 - cut));
                assert!(pool.add_region(memory, cut));
            }
            let (size, count) = (2 * UNIT - WORD, pool.capacity / UNIT / 2);
            let layout = Layout::from_size_align(size, 1).unwrap();
            let mut blocks: Vec<_> = core::iter::from_fn(|| pool.allocate(layout)).collect();
            assert!(blocks.len() >= count - 1, "{} of {count}", blocks.len());
            assert!(blocks.iter().all(|block| block.addr().get() % UNIT == 0));
            // SAFETY: each block is released once.
            blocks.drain(..).for_each(|block| unsafe { pool.release(block) });
            assert_eq!(pool.used, 0);
            // At least two free blocks, since regions are not joined.
            assert!(pool.largest_free() + WORD < pool.capacity);
        }
        // SAFETY: it came from a box above.
        drop(unsafe { Box::from_raw(memory.cast::<StaticRegion<512>>()) });
    }

    #[test]
    fn a_region_without_room_is_not_taken() {
        let memory = Box::into_raw(Box::new(StaticRegion::<64>::new())).cast::<u8>();
        let mut pool = Pool::new();
        for bytes in [0, 1, WORD, UNIT] {
            // SAFETY: the bytes are valid, and the region is too small to be written.
            assert!(!unsafe { pool.add_region(memory, bytes) });
        }
        // SAFETY: as above; the pool does not live longer.
        assert!(unsafe { pool.add_region(memory, UNIT + WORD) });
        assert_eq!(pool.capacity, UNIT);
        // SAFETY: it came from a box above.
        drop(unsafe { Box::from_raw(memory.cast::<StaticRegion<64>>()) });
    }
}

//! Growth of a memory by pages, up to a limit.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};

use dlmalloc::Dlmalloc;

/// Size of a page in bytes.
pub(super) const PAGE: usize = 64 << 10;

const WORD: usize = size_of::<usize>();

/// A memory that grows by pages at its end.
pub(super) trait Pages {
    /// Returns the size of the memory in bytes.
    fn size(&self) -> usize;

    /// Appends pages, and returns their address. Returns `None` and changes nothing if that is
    /// impossible.
    fn grow(&self, pages: usize) -> Option<NonNull<u8>>;
}

/// The source of an allocator's memory.
pub(super) struct Growth<P> {
    memory: P,
    limit: usize,
    grown: Cell<usize>,
}

impl<P: Pages> Growth<P> {
    pub(super) const fn new(memory: P) -> Growth<P> {
        Growth { memory, limit: usize::MAX, grown: Cell::new(0) }
    }

    /// Sets the maximum size of the memory in bytes.
    pub(super) const fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// Returns the number of bytes by which the memory has grown.
    pub(super) const fn grown(&self) -> usize {
        self.grown.get()
    }

    /// Returns the number of bytes by which the memory may grow.
    pub(super) fn growable(&self) -> usize {
        self.limit.saturating_sub(self.memory.size()) / PAGE * PAGE
    }
}

/// Allocates a block. Grows the memory if no free block is large enough, as often as necessary: a
/// region joins the free block at the end of the memory. Returns `None` when the memory is at its
/// limit, or cannot grow.
pub(super) fn allocate<P: Pages + Send>(
    pool: &mut Dlmalloc<Growth<P>>,
    layout: Layout,
) -> Option<NonNull<u8>> {
    loop {
        let before = pool.allocator().grown();
        let block = try_allocate(pool, layout);
        if block.is_some() || pool.allocator().grown() == before {
            return block;
        }
    }
}

/// Allocates a block. Returns `None` if a region that it appended is too small, too.
fn try_allocate<P: Pages + Send>(
    pool: &mut Dlmalloc<Growth<P>>,
    layout: Layout,
) -> Option<NonNull<u8>> {
    // `c_memalign` needs a larger free block, in which this block may be anywhere: the space of a
    // freed block would be too small for one of the same size. Most free blocks are aligned if
    // sizes, with the word before each block, are multiples of the alignment.
    let size = match layout.align() {
        align @ 16..=64 => (layout.size() + WORD).next_multiple_of(align) - WORD,
        _ => layout.size(),
    };
    // SAFETY: the alignment of a layout is a power of two; a block is freed before it is used.
    unsafe {
        let block = pool.c_malloc(size);
        if block.addr() & (layout.align() - 1) == 0 {
            return NonNull::new(block);
        }
        pool.c_free(block);
        NonNull::new(pool.c_memalign(layout.align(), size))
    }
}

// SAFETY: regions are new pages, which nothing else uses, and are never taken back.
unsafe impl<P: Pages + Send> dlmalloc::Allocator for Growth<P> {
    /// Grows by an eighth of the request, since the free block at the end may have the rest.
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        const REFUSED: (*mut u8, usize, u32) = (ptr::null_mut(), 0, 0);
        let growable = self.growable();
        if size > growable.saturating_add(self.grown()) {
            return REFUSED;
        }
        let bytes = (size / 8).next_multiple_of(PAGE).min(growable);
        if bytes == 0 {
            return REFUSED;
        }
        let Some(start) = self.memory.grow(bytes / PAGE) else { return REFUSED };
        self.grown.set(self.grown.get() + bytes);
        // The last bytes of the address space stay unused, so that no region wraps around.
        let ends_at_zero = start.addr().get().wrapping_add(bytes) == 0;
        (start.as_ptr(), if ends_at_zero { bytes - 16 } else { bytes }, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// A memory within a block of the host's heap.
    struct TestMemory {
        start: NonNull<u8>,
        capacity: usize,
        size: Cell<usize>,
    }

    // SAFETY: the block belongs to this memory.
    unsafe impl Send for TestMemory {}

    impl TestMemory {
        fn layout(capacity: usize) -> Layout {
            Layout::from_size_align(capacity, PAGE).unwrap()
        }

        fn new(pages: usize) -> TestMemory {
            let capacity = pages * PAGE;
            // SAFETY: the size is not zero.
            let start = unsafe { std::alloc::alloc(TestMemory::layout(capacity)) };
            TestMemory { start: NonNull::new(start).unwrap(), capacity, size: Cell::new(0) }
        }
    }

    impl Drop for TestMemory {
        fn drop(&mut self) {
            // SAFETY: `new` allocated the block with this layout.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), TestMemory::layout(self.capacity)) };
        }
    }

    impl Pages for TestMemory {
        fn size(&self) -> usize {
            self.size.get()
        }

        fn grow(&self, pages: usize) -> Option<NonNull<u8>> {
            let before = self.size.get();
            let after = before + pages * PAGE;
            if after > self.capacity {
                return None;
            }
            self.size.set(after);
            // SAFETY: the offset lies within the block.
            Some(unsafe { self.start.add(before) })
        }
    }

    fn pool(pages: usize) -> Dlmalloc<Growth<TestMemory>> {
        Dlmalloc::new_with_allocator(Growth::new(TestMemory::new(pages)))
    }

    /// Allocates a block and fills it.
    fn allocate(pool: &mut Dlmalloc<Growth<TestMemory>>, bytes: usize) -> Option<NonNull<u8>> {
        let block = super::allocate(pool, Layout::from_size_align(bytes, 16).unwrap())?;
        // SAFETY: the block has as many bytes.
        unsafe { block.write_bytes(0xA5, bytes) };
        Some(block)
    }

    fn release(pool: &mut Dlmalloc<Growth<TestMemory>>, block: NonNull<u8>) {
        // SAFETY: the tests release each block once.
        unsafe { pool.c_free(block.as_ptr()) };
    }

    #[test]
    fn memory_grows_by_the_block_that_is_requested() {
        let mut pool = pool(64);
        let block = allocate(&mut pool, 40 * PAGE).unwrap();
        assert_eq!(block.addr().get() % 16, 0);
        let grown = pool.allocator().grown();
        assert!(grown <= 46 * PAGE);
        release(&mut pool, block);
        let again = allocate(&mut pool, 40 * PAGE).unwrap();
        assert_eq!((again, pool.allocator().grown()), (block, grown));
    }

    #[test]
    fn grown_regions_are_joined() {
        let mut pool = pool(20);
        let blocks: Vec<_> = (0..8).map(|_| allocate(&mut pool, PAGE).unwrap()).collect();
        let grown = pool.allocator().grown();
        blocks.into_iter().for_each(|block| release(&mut pool, block));
        let all = allocate(&mut pool, 8 * PAGE);
        assert!(all.is_some() && pool.allocator().grown() == grown);
    }

    #[test]
    fn blocks_in_turns_reuse_the_memory_of_those_before() {
        let mut pool = pool(160);
        for round in 0..20 {
            for pages in [1, 2, 4, 8, 16, 32, 64] {
                let block = allocate(&mut pool, pages * PAGE);
                release(&mut pool, block.unwrap_or_else(|| panic!("round {round}: {pages} pages")));
            }
        }
        assert!(pool.allocator().grown() <= 73 * PAGE);
    }

    #[test]
    fn refused_growth_leaves_the_pool_usable() {
        let mut pool = pool(4);
        let first = allocate(&mut pool, PAGE).unwrap();
        pool.allocator_mut().set_limit(2 * PAGE);
        assert_eq!(pool.allocator().growable(), 0);
        assert!(allocate(&mut pool, PAGE).is_none());
        pool.allocator_mut().set_limit(3 * PAGE + 1);
        assert_eq!(pool.allocator().growable(), PAGE);
        assert!(allocate(&mut pool, 5 * PAGE).is_none() && pool.allocator().grown() == 2 * PAGE);
        let second = allocate(&mut pool, PAGE).unwrap();
        pool.allocator_mut().set_limit(usize::MAX / 2);
        assert!(allocate(&mut pool, 3 * PAGE).is_none());
        // SAFETY: the first block is in use, and has as many bytes.
        assert!((0..PAGE).all(|at| unsafe { first.add(at).read() } == 0xA5));
        release(&mut pool, second);
        release(&mut pool, first);
    }
}

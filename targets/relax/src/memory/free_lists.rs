//! Free lists of a pooled allocator, one for each block size.

use core::ffi::c_void;

use ferrite_core::platform::memory::Buffer;

/// A free block.
#[derive(Clone, Copy)]
struct IdleBlock(*mut c_void);

// SAFETY: nobody but the allocator knows the block, and any thread may free memory of any device.
unsafe impl Send for IdleBlock {}

/// Free blocks of one size.
struct SizeClass {
    bytes: usize,
    blocks: Buffer<IdleBlock>,
}

/// Free lists of an allocator. Models use few sizes, so size classes are found by linear search.
pub(super) struct FreeLists(Buffer<SizeClass>);

impl FreeLists {
    /// Creates empty lists. Allocates nothing.
    pub(super) const fn new() -> Self {
        FreeLists(Buffer::new())
    }

    /// Takes the most recently freed block of `bytes` bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Option<*mut c_void> {
        let class = self.0.as_mut_slice().iter_mut().find(|class| class.bytes == bytes)?;
        class.blocks.pop().map(|block| block.0)
    }

    /// Adds a free block. Returns `false` and leaves the block to the caller if the list cannot
    /// grow.
    pub(super) fn put(&mut self, block: *mut c_void, bytes: usize) -> bool {
        match self.class(bytes) {
            Some(class) => class.blocks.try_push(IdleBlock(block)).is_ok(),
            None => false,
        }
    }

    /// Takes any block. Returns it with its size.
    pub(super) fn take_any(&mut self) -> Option<(*mut c_void, usize)> {
        loop {
            let class = self.0.as_mut_slice().last_mut()?;
            if let Some(block) = class.blocks.pop() {
                return Some((block.0, class.bytes));
            }
            self.0.pop();
        }
    }

    /// Returns the size class for `bytes` bytes. Creates it if necessary.
    fn class(&mut self, bytes: usize) -> Option<&mut SizeClass> {
        let index = match self.0.iter().position(|class| class.bytes == bytes) {
            Some(index) => index,
            None => {
                self.0.try_push(SizeClass { bytes, blocks: Buffer::new() }).ok()?;
                self.0.len() - 1
            }
        };
        self.0.as_mut_slice().get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: usize) -> *mut c_void {
        core::ptr::without_provenance_mut(number)
    }

    #[test]
    fn a_block_is_taken_by_its_size_and_the_last_one_first() {
        let mut lists = FreeLists::new();
        assert!(
            lists.put(block(1), 4096) && lists.put(block(2), 8192) && lists.put(block(3), 4096)
        );
        assert_eq!(lists.take(4096), Some(block(3)));
        assert_eq!(lists.take(4096), Some(block(1)));
        assert_eq!(lists.take(4096), None);
        assert_eq!(lists.take(12288), None);
        assert_eq!(lists.take(8192), Some(block(2)));
    }

    #[test]
    fn all_blocks_can_be_taken_with_their_sizes() {
        let mut lists = FreeLists::new();
        assert!(lists.put(block(1), 4096) && lists.put(block(2), 8192));
        assert_eq!(lists.take(4096), Some(block(1)));
        assert!(lists.put(block(3), 12288));
        let mut rest = [lists.take_any(), lists.take_any()];
        rest.sort_by_key(|found| found.map(|(_, bytes)| bytes));
        assert_eq!(rest, [Some((block(2), 8192)), Some((block(3), 12288))]);
        assert_eq!(lists.take_any(), None);
    }
}

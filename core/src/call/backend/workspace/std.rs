//! Workspaces on hosts: heap blocks that threads cache for reuse.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

pub(super) use super::block::ALIGNMENT;
use super::block::{BlockHeader, free};
use super::cache::BlockCache;
use crate::error::{Result, out_of_memory};
use crate::plain_error;
use crate::platform::memory;
use crate::platform::sync::per_thread;

crate::per_thread! {
    /// Released blocks of each thread.
    static CACHE: BlockCache = BlockCache::new()
}

#[inline]
pub(super) fn allocate(size_bytes: u64) -> Result<NonNull<c_void>> {
    let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
    let Some(capacity) = size.max(1).checked_next_multiple_of(ALIGNMENT) else {
        return Err(out_of_memory(size));
    };
    let kept = per_thread::with(&CACHE, |kept| kept.take(capacity)).flatten();
    let Some(block) = kept.or_else(|| new_block(capacity)) else { return Err(out_of_memory(size)) };
    // SAFETY: the block begins with a header and is unused.
    unsafe {
        (*block.as_ptr()).mark = mark(block);
        Ok(block.add(1).cast())
    }
}

/// Caches the block of a workspace, or frees it while the thread is ending.
///
/// # Errors
/// ValueError if `workspace` is not the address of a workspace in use.
///
/// # Safety
/// `workspace` must come from `allocate`, be released once and no longer be used. Most violations
/// are detected.
#[inline]
pub(super) unsafe fn release(workspace: NonNull<c_void>) -> Result<()> {
    // SAFETY: the header precedes the workspace.
    let block = unsafe { workspace.cast::<BlockHeader>().sub(1) };
    // SAFETY: the caller guarantees that the header is readable; nothing is written unless it has
    // the mark.
    if !block.is_aligned() || unsafe { (*block.as_ptr()).mark } != mark(block) {
        return Err(plain_error!(VALUE_ERROR, "this is not the address of a workspace in use"));
    }
    // SAFETY: the workspace is no longer used.
    unsafe { (*block.as_ptr()).mark = 0 };
    let surplus = per_thread::with(&CACHE, |kept| kept.put(block)).unwrap_or(Some(block));
    if let Some(block) = surplus {
        // SAFETY: the block is no longer used.
        unsafe { free(block) };
    }
    Ok(())
}

/// Returns the value of [`BlockHeader::mark`] for a workspace in use, which other memory is
/// unlikely to contain.
fn mark(block: NonNull<BlockHeader>) -> usize {
    block.addr().get() ^ 0x5EC0_77E5_F0CA_C71A_u64 as usize
}

/// Allocates a block from the heap. When out of memory, frees the thread's cached blocks and tries
/// again.
#[cold]
fn new_block(capacity: usize) -> Option<NonNull<BlockHeader>> {
    let layout =
        Layout::from_size_align(capacity.checked_add(size_of::<BlockHeader>())?, ALIGNMENT).ok()?;
    let block = memory::allocate(layout).or_else(|| {
        drop(per_thread::with(&CACHE, |kept| core::mem::replace(kept, BlockCache::new())));
        memory::allocate(layout)
    })?;
    let block = block.cast::<BlockHeader>();
    // SAFETY: the block is new and has room for a header.
    unsafe { block.write(BlockHeader { capacity, mark: 0, next: ptr::null_mut() }) };
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::cache::MAX_CACHED;
    use super::*;
    use std::sync::atomic::AtomicPtr;
    use std::thread;
    use std::vec::Vec;

    fn give_back(workspace: NonNull<c_void>) {
        // SAFETY: the tests release each workspace once.
        unsafe { release(workspace) }.unwrap();
    }

    /// Runs `body` on a thread with an empty cache.
    fn on_new_thread(body: impl FnOnce() + Send + 'static) {
        thread::spawn(body).join().unwrap();
    }

    #[test]
    fn nested_workspaces_get_the_same_blocks_again() {
        on_new_thread(|| {
            let (outer, inner) = (allocate(65_536).unwrap(), allocate(8192).unwrap());
            for _ in 0..3 {
                give_back(inner);
                give_back(outer);
                assert_eq!((allocate(65_536).unwrap(), allocate(8192).unwrap()), (outer, inner));
            }
            // In the reverse order, too.
            give_back(outer);
            give_back(inner);
            assert_eq!((allocate(8190).unwrap(), allocate(65_500).unwrap()), (inner, outer));
            give_back(inner);
            give_back(outer);
        });
    }

    #[test]
    fn small_workspaces_do_not_take_large_blocks() {
        on_new_thread(|| {
            let large = allocate(1 << 20).unwrap();
            give_back(large);
            let small = allocate(1 << 10).unwrap();
            assert_ne!(small, large);
            assert_eq!(allocate(1 << 20).unwrap(), large);
            give_back(small);
            give_back(large);
        });
    }

    #[test]
    fn a_thread_keeps_some_blocks_and_those_that_came_last() {
        on_new_thread(|| {
            let count = MAX_CACHED + 3;
            let all: Vec<_> = (0..count).map(|_| allocate(4096).unwrap()).collect();
            all.iter().for_each(|workspace| give_back(*workspace));
            per_thread::with(&CACHE, |kept| assert_eq!(kept.len(), MAX_CACHED)).unwrap();
            for workspace in all[3..].iter().rev() {
                assert_eq!(allocate(4096).unwrap(), *workspace);
            }
            all[3..].iter().for_each(|workspace| give_back(*workspace));
        });
    }

    #[test]
    fn another_thread_gives_a_workspace_back_and_uses_its_block() {
        on_new_thread(|| {
            let shared = AtomicPtr::new(allocate(4096).unwrap().as_ptr());
            on_new_thread(move || {
                let workspace = NonNull::new(shared.into_inner()).unwrap();
                give_back(workspace);
                assert_eq!(allocate(4096).unwrap(), workspace);
                give_back(workspace);
            });
        });
    }

    #[test]
    fn a_workspace_is_given_back_once() {
        on_new_thread(|| {
            let workspace = allocate(100).unwrap();
            give_back(workspace);
            // SAFETY: the block is in the thread's cache, and its header is readable.
            let error = unsafe { release(workspace) }.unwrap_err();
            assert_eq!(error.kind_bytes(), b"ValueError");
            per_thread::with(&CACHE, |kept| assert_eq!(kept.len(), 1)).unwrap();
        });
    }

    #[test]
    fn other_memory_is_refused() {
        let mut memory = [0u64; 64];
        let memory = (&raw mut memory).cast::<u64>();
        for index in [20, 21] {
            let place = NonNull::new(memory.wrapping_add(index).cast()).unwrap();
            // SAFETY: the memory before the place is readable.
            assert_eq!(unsafe { release(place) }.unwrap_err().kind_bytes(), b"ValueError");
        }
    }

    #[test]
    fn threads_that_are_ending_have_workspaces() {
        struct AtEnd;
        impl Drop for AtEnd {
            fn drop(&mut self) {
                let workspace = allocate(4096).unwrap();
                give_back(workspace);
            }
        }
        std::thread_local!(static AT_END: AtEnd = const { AtEnd });
        on_new_thread(|| {
            AT_END.with(|_| ());
            give_back(allocate(4096).unwrap());
        });
        on_new_thread(|| {
            give_back(allocate(4096).unwrap());
            AT_END.with(|_| ());
        });
    }
}

//! Recycled memory: blocks of small objects, which the thread that drops the objects keeps for
//! objects created later.
//!
//! Programs that create and drop the same objects again and again, as a model does in each call,
//! need not ask the heap for memory: free lists of blocks, by size, are the thread's own. They are
//! bounded, and are freed when the thread ends.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use super::{Apart, BODY_ALIGNMENT, RecordLayout, Space, object_bytes, set_up, source};
use crate::abi::TVMFFIObjectAllocHeader;
use crate::error::Result;
use crate::platform::memory;
use crate::platform::sync::per_thread;

/// Step between the sizes of blocks in bytes.
const STEP: usize = 32;

/// Number of block sizes. Larger objects are allocated individually.
const SIZES: usize = 8;

/// Maximum number of free blocks of a size that a thread keeps.
const MOST_FREE: usize = 32;

/// Space of small objects that are created again and again. Takes a block that this thread freed
/// if it can, and allocates individually otherwise.
///
/// Ownership: the objects own their blocks, and may be dropped on any thread, which then keeps the
/// block. With a custom allocator, every object is allocated individually.
#[derive(Default)]
pub struct Recycled;

/// Header of a block: the index of its size, and the ABI's allocation header. The object follows.
#[repr(C)]
struct Front {
    size: usize,
    header: TVMFFIObjectAllocHeader,
}

const _: () = assert!(size_of::<Front>().is_multiple_of(BODY_ALIGNMENT));

/// Free blocks of one size, linked through the space of their objects.
#[derive(Clone, Copy)]
struct FreeList {
    first: *mut Front,
    len: usize,
}

/// Free blocks of a thread, by size.
struct FreeBlocks([FreeList; SIZES]);

crate::per_thread! {
    static FREE: FreeBlocks = FreeBlocks([FreeList { first: ptr::null_mut(), len: 0 }; SIZES])
}

// SAFETY: a block has space for objects of its size, which no other object uses until `recycle`
// gets it back; other memory comes from `Apart`.
unsafe impl Space for Recycled {
    #[inline]
    fn allocate(
        &mut self,
        class: &RecordLayout,
        type_index: i32,
        trailing_bytes: usize,
    ) -> Result<NonNull<u8>> {
        let size = object_bytes(class, trailing_bytes).map_or(SIZES, |bytes| bytes / STEP);
        if size >= SIZES || class.alignment > BODY_ALIGNMENT || !source::uses_builtin() {
            return Apart.allocate(class, type_index, trailing_bytes);
        }
        let kept = per_thread::with(&FREE, |free| free.0.get_mut(size)?.pop()).flatten();
        match kept.or_else(|| allocate_block(size)) {
            Some(body) => Ok(set_up(body, class, type_index)),
            None => Err(source::allocation_error(STEP * (size + 1))),
        }
    }
}

/// Allocates a block. Returns the address of its object.
#[cold]
fn allocate_block(size: usize) -> Option<NonNull<u8>> {
    let bytes = size_of::<Front>() + STEP * (size + 1);
    let block = memory::allocate(Layout::from_size_align(bytes, BODY_ALIGNMENT).ok()?)?;
    // SAFETY: the block is new, and begins with a header.
    unsafe {
        let front = block.cast::<Front>();
        front
            .write(Front { size, header: TVMFFIObjectAllocHeader { delete_space: Some(recycle) } });
        Some(front.add(1).cast())
    }
}

/// Keeps the block of a dead object, or frees it if the thread has enough. Called through the
/// object's allocation header.
///
/// # Safety
/// The body must come from [`Recycled`], and must no longer be used.
unsafe extern "C" fn recycle(body: *mut c_void) {
    // SAFETY: the caller guarantees the block, whose header precedes the object.
    unsafe {
        let size = (*body.cast::<Front>().sub(1)).size;
        let push = |free: &mut FreeBlocks| free.0.get_mut(size).is_some_and(|list| list.push(body));
        if !per_thread::with(&FREE, push).unwrap_or(false) {
            release(body.cast());
        }
    }
}

/// Returns a block to the heap.
///
/// # Safety
/// The body must come from [`allocate_block`], and must no longer be used.
unsafe fn release(body: *mut u8) {
    // SAFETY: the caller guarantees the block. The heap knows its size.
    unsafe {
        let block = NonNull::new_unchecked(body.cast::<Front>().sub(1).cast());
        memory::release(block, Layout::new::<u64>());
    }
}

impl FreeList {
    /// Takes the block that was added last. Returns the address of its object.
    #[inline]
    fn pop(&mut self) -> Option<NonNull<u8>> {
        let block = NonNull::new(self.first)?;
        // SAFETY: the list owns its blocks, which `push` linked.
        unsafe {
            let body = block.add(1);
            self.first = body.cast::<*mut Front>().read();
            self.len -= 1;
            Some(body.cast())
        }
    }

    /// Adds a block. Returns `false` and does nothing if there are enough.
    ///
    /// # Safety
    /// Same requirements as [`release`].
    #[inline]
    unsafe fn push(&mut self, body: *mut c_void) -> bool {
        let is_kept = self.len < MOST_FREE;
        if is_kept {
            // SAFETY: the caller guarantees the block, which has space for a pointer.
            unsafe { body.cast::<*mut Front>().write(self.first) };
            self.first = body.cast::<Front>().wrapping_sub(1);
            self.len += 1;
        }
        is_kept
    }
}

impl Drop for FreeBlocks {
    fn drop(&mut self) {
        for list in &mut self.0 {
            while let Some(body) = list.pop() {
                // SAFETY: the list owned the block.
                unsafe { release(body.as_ptr()) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::object::weak::WeakObjectRef;
    use crate::value::convert::AnyCompatible;
    use crate::value::string::String;
    use std::vec::Vec;

    fn string(len: usize) -> Result<String> {
        String::from_bytes_in(&std::vec![b'x'; len], &mut Recycled)
    }

    fn address(string: &String) -> usize {
        string.view().object_ptr().expect("an object").addr().get()
    }

    /// Returns the number of free blocks of this thread.
    fn free_blocks() -> usize {
        let count = |free: &mut FreeBlocks| free.0.iter().map(|list| list.len).sum();
        per_thread::with(&FREE, count).expect("a living thread")
    }

    /// Runs a test in a thread without free blocks.
    fn in_new_thread(test: fn() -> Result<()>) -> Result<()> {
        std::thread::spawn(test).join().expect("no panic")
    }

    #[test]
    fn an_object_gets_the_block_that_was_freed_last() -> Result<()> {
        in_new_thread(|| {
            let blocks = [string(20)?, string(20)?];
            let [first, second] = [&blocks[0], &blocks[1]].map(address);
            blocks.into_iter().for_each(drop);
            let large = string(100)?;
            assert!(![first, second].contains(&address(&large)));
            assert_eq!([string(21)?, string(19)?].each_ref().map(address), [second, first]);
            Ok(())
        })
    }

    #[test]
    fn free_blocks_are_bounded() -> Result<()> {
        in_new_thread(|| {
            let strings: Result<Vec<String>> = (0..2 * MOST_FREE).map(|_| string(20)).collect();
            drop(strings?);
            assert_eq!(free_blocks(), MOST_FREE);
            drop([string(STEP * SIZES)?, string(1 << 20)?]);
            assert_eq!(free_blocks(), MOST_FREE);
            Ok(())
        })
    }

    #[test]
    fn a_block_is_not_free_before_the_last_weak_reference_is_gone() -> Result<()> {
        in_new_thread(|| {
            let string = crate::Any::new(string(20)?);
            let weak = WeakObjectRef::new(string.as_object().expect("an object"));
            drop(string);
            assert_eq!(free_blocks(), 0);
            drop(weak);
            assert_eq!(free_blocks(), 1);
            Ok(())
        })
    }

    #[test]
    fn the_thread_that_drops_an_object_keeps_its_block() -> Result<()> {
        in_new_thread(|| {
            let string = string(20)?;
            let there = std::thread::spawn(move || {
                drop(string);
                free_blocks()
            });
            assert_eq!((there.join().expect("no panic"), free_blocks()), (1, 0));
            Ok(())
        })
    }
}

//! Workspaces on bare metal: a stack of blocks in a buffer that the firmware provides. Without a
//! buffer, workspaces are allocated from the library's heap.
//!
//! The `minimal` profile has its own stack, which assumes a single core and needs no lock.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use crate::error::{Result, out_of_memory, out_of_memory_with_free};
use crate::plain_error;
use crate::platform::memory;
use crate::platform::sync::Mutex;

/// Alignment of workspaces in bytes.
pub(super) const ALIGNMENT: usize = crate::platform::config::WORKSPACE_ALIGN;

/// The header of a block: a pointer to the block below it in the stack.
struct StackBlock(*mut StackBlock);

/// The firmware's buffer and the blocks in it. All pointers are null without a buffer.
struct WorkspaceStack {
    start: *mut u8,
    end: *mut u8,
    /// Start of the free part of the buffer.
    next: *mut u8,
    /// The topmost block.
    top: *mut StackBlock,
    /// High-water mark: the highest end address of any block so far.
    most: *mut u8,
}

// SAFETY: the library owns the buffer while it is set; any thread may use it.
unsafe impl Send for WorkspaceStack {}

static STACK: Mutex<WorkspaceStack> = Mutex::new(WorkspaceStack {
    start: ptr::null_mut(),
    end: ptr::null_mut(),
    next: ptr::null_mut(),
    top: ptr::null_mut(),
    most: ptr::null_mut(),
});

/// Installs the buffer that workspaces are allocated from, and resets the high-water mark. Null
/// removes the buffer.
///
/// # Errors
/// RuntimeError if a workspace of the previous buffer is in use.
///
/// # Safety
/// Nothing else may use the `size` bytes at `start` until another buffer is installed.
pub unsafe fn set_buffer(start: *mut c_void, size: usize) -> Result<()> {
    let start = start.cast::<u8>();
    let is_set = STACK.with_mut(|buffer| {
        let is_free = buffer.top.is_null();
        if is_free {
            let end = start.wrapping_add(size);
            *buffer = WorkspaceStack { start, end, next: start, top: ptr::null_mut(), most: start };
        }
        is_free
    });
    if is_set {
        return Ok(());
    }
    Err(plain_error!(RUNTIME_ERROR, "a workspace of the buffer before is in use"))
}

/// Returns the high-water mark: the maximum number of bytes of the buffer that were in use at once.
pub fn high_water() -> usize {
    STACK.with_mut(|buffer| buffer.most.addr() - buffer.start.addr())
}

pub(super) fn allocate(size_bytes: u64) -> Result<NonNull<c_void>> {
    let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
    let pushed = STACK.with_mut(|buffer| buffer.push(size));
    match pushed {
        PushOutcome::Block(workspace) => Ok(workspace),
        PushOutcome::TooLarge { free } => Err(out_of_memory_with_free(size, free)),
        PushOutcome::NoBuffer => from_elsewhere(size),
    }
}

fn from_elsewhere(size: usize) -> Result<NonNull<c_void>> {
    let block = Layout::from_size_align(size, ALIGNMENT).ok().and_then(memory::allocate);
    block.map(NonNull::cast).ok_or_else(|| out_of_memory(size))
}

/// Releases a workspace to the buffer or to the heap.
///
/// # Errors
/// ValueError if a workspace of the buffer is not the topmost block.
///
/// # Safety
/// `workspace` must come from `allocate`, be released once and no longer be used.
pub(super) unsafe fn release(workspace: NonNull<c_void>) -> Result<()> {
    let workspace = workspace.as_ptr();
    let (is_popped, is_of_buffer) = STACK.with_mut(|buffer| {
        (buffer.pop(workspace), (buffer.start..buffer.end).contains(&workspace.cast()))
    });
    if is_popped {
        return Ok(());
    }
    if is_of_buffer {
        return Err(plain_error!(
            VALUE_ERROR,
            "workspaces of the buffer are given back in the reverse order"
        ));
    }
    // SAFETY: it did not come from the buffer. Bare-metal heaps release memory without its size.
    unsafe { memory::release(NonNull::new_unchecked(workspace.cast()), Layout::new::<u8>()) };
    Ok(())
}

enum PushOutcome {
    Block(NonNull<c_void>),
    TooLarge { free: usize },
    NoBuffer,
}

impl WorkspaceStack {
    /// Pushes a block for a workspace of `size` bytes.
    fn push(&mut self, size: usize) -> PushOutcome {
        const {
            assert!(
                ALIGNMENT >= align_of::<StackBlock>(),
                "FERRITE_WORKSPACE_ALIGN must fit a pointer"
            )
        };
        if self.start.is_null() {
            return PushOutcome::NoBuffer;
        }
        let room = self.next.wrapping_add(size_of::<StackBlock>() + ALIGNMENT - 1);
        let content = room.map_addr(|address| address & !(ALIGNMENT - 1));
        let free = self.end.addr().saturating_sub(content.addr());
        if size > free || content > self.end {
            return PushOutcome::TooLarge { free };
        }
        let block = content.cast::<StackBlock>().wrapping_sub(1);
        // SAFETY: block and content lie in the buffer, above all others.
        unsafe { block.write(StackBlock(self.top)) };
        self.top = block;
        self.next = content.wrapping_add(size);
        self.most = self.most.max(self.next);
        // SAFETY: the buffer is not at address zero.
        PushOutcome::Block(unsafe { NonNull::new_unchecked(content.cast()) })
    }

    /// Pops the topmost block if it is the block of `workspace`. Returns `true` if it was.
    fn pop(&mut self, workspace: *mut c_void) -> bool {
        let block = workspace.cast::<StackBlock>().wrapping_sub(1);
        if self.top != block {
            return false;
        }
        // SAFETY: `top` is a block.
        self.top = unsafe { (*block).0 };
        self.next = block.cast();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_gives_workspaces_and_says_what_is_left() {
        let _alone = super::super::tests::SOURCE.lock();
        let mut memory = [0u64; 64];
        let (start, size) = (memory.as_mut_ptr().cast::<c_void>(), size_of_val(&memory));
        // SAFETY: the array is used for workspaces only, until the buffer is removed.
        unsafe {
            assert!(set_buffer(start, size).is_ok());
            let first = allocate(100).unwrap();
            let second = allocate(100).unwrap();
            assert_eq!(second.addr().get() % ALIGNMENT, 0);
            let most = high_water();
            assert!((200..size).contains(&most));
            let error = allocate(1000).unwrap_err();
            assert_eq!(error.kind_bytes(), b"MemoryError");
            assert!(error.message_bytes().starts_with(b"Out of memory: 1000 bytes asked, "));
            assert_eq!(release(first).unwrap_err().kind_bytes(), b"ValueError");
            assert_eq!(set_buffer(start, size).unwrap_err().kind_bytes(), b"RuntimeError");
            assert!(release(second).is_ok() && release(first).is_ok());
            assert_eq!(high_water(), most);
            assert!(set_buffer(ptr::null_mut(), 0).is_ok());
            // Without a buffer, workspaces come from the heap.
            let third = allocate(1000).unwrap();
            assert!(release(third).is_ok());
        }
    }

    #[test]
    fn a_buffer_is_used_to_its_end() {
        let _alone = super::super::tests::SOURCE.lock();
        #[repr(align(16))]
        struct Memory([u8; 64]);
        let mut memory = Memory([0; 64]);
        // SAFETY: as above.
        unsafe {
            assert!(set_buffer(memory.0.as_mut_ptr().cast(), size_of_val(&memory)).is_ok());
            let whole = allocate((size_of_val(&memory) - 16) as u64).unwrap();
            assert_eq!(high_water(), size_of_val(&memory));
            assert!(allocate(0).unwrap_err().message_bytes().ends_with(b"0 bytes asked, 0 free"));
            assert!(release(whole).is_ok());
            assert!(set_buffer(ptr::null_mut(), 0).is_ok());
        }
    }
}

//! Workspaces of running kernels: a stack of blocks in a buffer provided by the firmware.
//!
//! Kernels and interrupt handlers must release their workspaces in reverse order of allocation.

use core::ffi::c_void;
use core::ptr;

use super::refusal::{Refusal, Result};
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use ferrite_core::platform::sync::critical;

/// The header of a workspace: a pointer to the block below it in the stack.
struct WorkspaceBlock(*mut WorkspaceBlock);

/// The firmware's buffer and the blocks in it. All pointers are null without a buffer.
struct WorkspaceBuffer {
    start: AtomicPtr<u8>,
    end: AtomicPtr<u8>,
    /// High-water mark: the highest end address of any block so far.
    most: AtomicPtr<u8>,
    /// Start of the free part of the buffer.
    next: AtomicPtr<u8>,
    /// The topmost block.
    top: AtomicPtr<WorkspaceBlock>,
}

static BUFFER: WorkspaceBuffer = WorkspaceBuffer {
    start: AtomicPtr::new(ptr::null_mut()),
    end: AtomicPtr::new(ptr::null_mut()),
    most: AtomicPtr::new(ptr::null_mut()),
    next: AtomicPtr::new(ptr::null_mut()),
    top: AtomicPtr::new(ptr::null_mut()),
};

/// Installs the buffer that workspaces are allocated from, and resets the high-water mark.
///
/// # Errors
/// RuntimeError if a workspace of the previous buffer is in use.
///
/// # Safety
/// The caller transfers ownership of the `size` bytes at `start` to the library.
#[inline(always)]
pub unsafe fn set_buffer(start: *mut c_void, size: usize) -> Result<()> {
    let start = start.cast::<u8>();
    critical(|| {
        if !BUFFER.top.load(Relaxed).is_null() {
            return Err(Refusal::BUSY);
        }
        BUFFER.start.store(start, Relaxed);
        BUFFER.end.store(start.wrapping_add(size), Relaxed);
        BUFFER.most.store(start, Relaxed);
        BUFFER.next.store(start, Relaxed);
        Ok(())
    })
}

/// Returns the high-water mark: the maximum number of bytes of the buffer that were in use at once.
#[inline(always)]
pub fn high_water() -> usize {
    BUFFER.most.load(Relaxed).addr().wrapping_sub(BUFFER.start.load(Relaxed).addr())
}

/// The error of an exhausted workspace buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The number of requested bytes, saturated to `usize::MAX`.
    pub asked: usize,
    /// The number of free bytes.
    pub free: usize,
}

/// Allocates `size` bytes, aligned to `FERRITE_WORKSPACE_ALIGN`.
///
/// # Errors
/// [`Exhausted`] if the block does not fit with its header and alignment.
#[inline(always)]
pub fn allocate(size: u64) -> core::result::Result<*mut c_void, Exhausted> {
    let asked = usize::try_from(size).unwrap_or(usize::MAX);
    let mut free = 0;
    let workspace = critical(|| push(asked, &mut free));
    if workspace.is_null() { Err(Exhausted { asked, free }) } else { Ok(workspace) }
}

/// Releases the latest workspace. Interrupts are not masked: an interrupt handler leaves the stack
/// unchanged.
///
/// # Errors
/// ValueError if `workspace` is not the latest. The stack is then unchanged.
///
/// # Safety
/// The workspace must no longer be used.
#[inline(always)]
pub unsafe fn free(workspace: *mut c_void) -> Result<()> {
    let block = workspace.cast::<WorkspaceBlock>().wrapping_sub(1);
    if BUFFER.top.load(Relaxed) != block {
        return Err(Refusal::WORKSPACE);
    }
    // SAFETY: the topmost block is valid.
    BUFFER.top.store(unsafe { (*block).0 }, Relaxed);
    BUFFER.next.store(block.cast(), Relaxed);
    Ok(())
}

/// Pushes a block. If it does not fit, returns null and sets `free` to the number of free bytes.
#[inline(always)]
fn push(size: usize, free: &mut usize) -> *mut c_void {
    const ALIGN: usize = ferrite_core::platform::config::WORKSPACE_ALIGN;
    const {
        assert!(ALIGN >= align_of::<WorkspaceBlock>(), "FERRITE_WORKSPACE_ALIGN must fit a pointer")
    };
    let room = BUFFER.next.load(Relaxed).wrapping_add(size_of::<WorkspaceBlock>() + ALIGN - 1);
    let content = room.map_addr(|address| address & !(ALIGN - 1));
    let limit = BUFFER.end.load(Relaxed);
    if content <= limit {
        *free = limit.addr() - content.addr();
        if size <= *free {
            let (block, end) =
                (content.cast::<WorkspaceBlock>().wrapping_sub(1), content.wrapping_add(size));
            // SAFETY: block and content lie in the buffer, above all others.
            unsafe { *block = WorkspaceBlock(BUFFER.top.load(Relaxed)) };
            BUFFER.top.store(block, Relaxed);
            BUFFER.next.store(end, Relaxed);
            if BUFFER.most.load(Relaxed) < end {
                BUFFER.most.store(end, Relaxed);
            }
            return content.cast();
        }
    }
    ptr::null_mut()
}

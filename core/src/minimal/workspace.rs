//! The memory of running kernels: a stack of blocks in a buffer that the firmware hands over.
//!
//! Kernels, and what interrupts them, give their workspaces back in the reverse order.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr;

use super::refusal::{Refusal, refuse};
use super::text::{Decimal, decimal};
use super::{Result, raised};
use crate::config;
use crate::sync::critical;

/// What precedes a workspace: the block below.
#[repr(transparent)]
struct Block(*mut Block);

/// The buffer. Zeros: none.
struct Buffer {
    start: *mut u8,
    end: *mut u8,
    /// Where the next block may begin.
    next: *mut u8,
    /// The topmost block.
    top: *mut Block,
    /// The most bytes that were in use.
    most: usize,
}

struct Shared(UnsafeCell<Buffer>);

// SAFETY: the buffer is only touched in critical sections.
unsafe impl Sync for Shared {}

static BUFFER: Shared = Shared(UnsafeCell::new(Buffer {
    start: ptr::null_mut(),
    end: ptr::null_mut(),
    next: ptr::null_mut(),
    top: ptr::null_mut(),
    most: 0,
}));

/// Runs `body`, which neither waits nor calls out, with interrupts masked.
fn with_buffer<R>(body: impl FnOnce(&mut Buffer) -> R) -> R {
    // SAFETY: critical sections that use the buffer do not nest.
    critical(|| body(unsafe { &mut *BUFFER.0.get() }))
}

/// Takes workspaces from this buffer from now on, and starts the high-water mark again.
///
/// # Errors
/// RuntimeError while a workspace of the buffer before is in use.
///
/// # Safety
/// `size` bytes from `start` on belong to the library from now on.
pub unsafe fn set_buffer(start: *mut c_void, size: usize) -> Result<()> {
    let is_free = with_buffer(|buffer| {
        let is_free = buffer.top.is_null();
        if is_free {
            buffer.start = start.cast();
            buffer.end = buffer.start.wrapping_add(size);
            buffer.next = buffer.start;
            buffer.most = 0;
        }
        is_free
    });
    if is_free { Ok(()) } else { Err(refuse(Refusal::Busy)) }
}

/// The most bytes of the buffer that were in use at once.
pub fn high_water() -> usize {
    // SAFETY: one word, which is read at once.
    unsafe { (&raw const (*BUFFER.0.get()).most).read_volatile() }
}

/// Gives `size` bytes, aligned to `FERRITE_WORKSPACE_ALIGN`; null, with MemoryError raised, when there are fewer.
pub fn allocate(size: u64) -> *mut c_void {
    let mut free = 0;
    let workspace = with_buffer(|buffer| buffer.push(size, &mut free));
    if workspace.is_null() {
        raise_exhausted(size, free);
    }
    workspace
}

/// Takes the latest workspace back.
///
/// # Errors
/// ValueError when it is not; nothing changes then.
///
/// # Safety
/// Nobody uses the workspace afterwards.
pub unsafe fn free(workspace: *mut c_void) -> Result<()> {
    let block = workspace.cast::<Block>().wrapping_sub(1);
    let is_latest = with_buffer(|buffer| {
        let is_latest = buffer.top == block;
        if is_latest {
            // SAFETY: it is a block.
            buffer.top = unsafe { (*block).0 };
            buffer.next = block.cast();
        }
        is_latest
    });
    if is_latest { Ok(()) } else { Err(refuse(Refusal::Workspace)) }
}

impl Buffer {
    /// A block at the top; null, and how much would fit, when it does not.
    fn push(&mut self, size: u64, free: &mut usize) -> *mut c_void {
        const ALIGN: usize = config::WORKSPACE_ALIGN;
        const { assert!(ALIGN >= align_of::<Block>(), "FERRITE_WORKSPACE_ALIGN must fit a pointer") };
        let room = self.next.wrapping_add(size_of::<Block>() + ALIGN - 1);
        let content = room.map_addr(|address| address & !(ALIGN - 1));
        *free = self.end.addr().saturating_sub(content.addr());
        if size > *free as u64 {
            return ptr::null_mut();
        }
        let block = content.cast::<Block>().wrapping_sub(1);
        // SAFETY: block and content lie in the buffer, above all others.
        unsafe { *block = Block(self.top) };
        self.top = block;
        self.next = content.wrapping_add(size as usize);
        self.most = self.most.max(self.next.addr() - self.start.addr());
        content.cast()
    }
}

#[cold]
fn raise_exhausted(asked: u64, free: usize) {
    let (mut first, mut second) = (Decimal::uninit(), Decimal::uninit());
    let asked = decimal(&mut first, usize::try_from(asked).unwrap_or(usize::MAX));
    let parts = [asked, c" bytes asked, ".as_ptr(), decimal(&mut second, free), c" free".as_ptr()];
    // SAFETY: all of them are C strings.
    unsafe { raised::raise(c"MemoryError".as_ptr(), &parts) };
}

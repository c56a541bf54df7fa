//! A pool whose memory is the WebAssembly memory: it grows by the block that is requested.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::ptr::NonNull;

use dlmalloc::Dlmalloc;

use super::PoolStats;
use super::growth::{self, Growth, PAGE, Pages};
use crate::platform::sync::critical;

/// The memory of the WebAssembly module.
struct WasmMemory;

impl Pages for WasmMemory {
    fn size(&self) -> usize {
        core::arch::wasm32::memory_size::<0>().saturating_mul(PAGE)
    }

    fn grow(&self, pages: usize) -> Option<NonNull<u8>> {
        match core::arch::wasm32::memory_grow::<0>(pages) {
            usize::MAX => None,
            before => NonNull::new(core::ptr::with_exposed_provenance_mut(before * PAGE)),
        }
    }
}

/// The pool of the module, protected by a critical section.
struct SharedPool(UnsafeCell<Dlmalloc<Growth<WasmMemory>>>);

// SAFETY: the pool is only borrowed in critical sections, and may be used by any thread.
unsafe impl Sync for SharedPool {}

static POOL: SharedPool =
    SharedPool(UnsafeCell::new(Dlmalloc::new_with_allocator(Growth::new(WasmMemory))));

fn with_pool<R>(body: impl FnOnce(&mut Dlmalloc<Growth<WasmMemory>>) -> R) -> R {
    // SAFETY: critical sections exclude each other, and the pool's operations neither nest them nor
    // call out.
    critical(|| body(unsafe { &mut *POOL.0.get() }))
}

/// Allocates a block. Grows the memory if no free block is large enough. Returns `None` when the
/// memory is at its limit, or cannot grow.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    with_pool(|pool| growth::allocate(pool, layout))
}

/// Frees a block, for later blocks: the memory of a module never shrinks.
///
/// # Safety
/// `block` must come from this pool and no longer be used.
#[inline]
pub unsafe fn release(block: NonNull<u8>) {
    // SAFETY: the caller's promise.
    with_pool(|pool| unsafe { pool.c_free(block.as_ptr()) });
}

/// Leaves the region unused, and returns `true`: memory that grows needs no regions.
///
/// # Safety
/// None in this build. The function is unsafe in builds with a fixed pool.
pub unsafe fn add_region(_start: NonNull<u8>, _bytes: usize) -> bool {
    true
}

/// Returns the number of bytes by which the memory has grown.
pub fn stats() -> PoolStats {
    let grown = with_pool(|pool| pool.allocator().grown());
    PoolStats { capacity: grown, used: grown, high_water: grown }
}

/// Returns the number of bytes by which the memory may still grow.
pub fn largest_free() -> usize {
    with_pool(|pool| pool.allocator().growable())
}

/// Sets the size in bytes up to which the memory of the module grows. A limit below its present
/// size only stops growth.
pub fn set_limit(bytes: usize) {
    with_pool(|pool| pool.allocator_mut().set_limit(bytes));
}

//! Default implementations of the platform hooks: memory from the pool, and a single thread of
//! execution.
//!
//! On bare metal each has a weak symbol, which the linker uses unless firmware defines the
//! function. A hook therefore costs no memory and works before `main`, and a replaced default is
//! not linked. Stable Rust cannot declare a weak function; assembly can declare a weak alias of
//! one, if both are in one object file: hence the aliases are beside the functions, and none is
//! inlined.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use crate::platform::memory::pool;

/// Declares the weak symbol of a default.
macro_rules! weak {
    ($hook:literal, $default:path) => {
        #[cfg(target_os = "none")]
        core::arch::global_asm!(concat!(".weak ", $hook), concat!(".set ", $hook, ", {}"), sym $default);
    };
}

weak!("FerritePlatformAllocate", allocate);
weak!("FerritePlatformRelease", release);
weak!("FerritePlatformLargestFree", largest_free);
weak!("FerritePlatformRaisedSlot", raised_slot);
weak!("FerritePlatformYield", yield_now);

/// Implements `FerritePlatformAllocate` with the pool.
#[inline(never)]
pub extern "C" fn allocate(size: usize, alignment: usize) -> *mut c_void {
    // SAFETY: the library requests power-of-two alignments, and sizes below half the address space.
    let layout = unsafe { Layout::from_size_align_unchecked(size, alignment) };
    pool::allocate(layout).map_or(ptr::null_mut(), |block| block.as_ptr().cast())
}

/// Implements `FerritePlatformRelease` with the pool.
///
/// # Safety
/// `block` must come from [`allocate`] and no longer be used.
#[inline(never)]
pub unsafe extern "C" fn release(block: *mut c_void) {
    // SAFETY: the caller's promise; never called with null.
    unsafe { pool::release(NonNull::new_unchecked(block.cast())) }
}

/// Implements `FerritePlatformLargestFree` with the pool.
#[inline(never)]
pub extern "C" fn largest_free() -> usize {
    pool::largest_free()
}

/// The raised-error slot of the program.
struct Slot(UnsafeCell<*mut c_void>);

// SAFETY: it is only accessed in critical sections, through the address of `raised_slot`.
unsafe impl Sync for Slot {}

/// Implements `FerritePlatformRaisedSlot` with one slot for the whole program.
#[inline(never)]
pub extern "C" fn raised_slot() -> *mut *mut c_void {
    static SLOT: Slot = Slot(UnsafeCell::new(ptr::null_mut()));
    SLOT.0.get()
}

/// Implements `FerritePlatformYield` with a spin-loop hint.
#[inline(never)]
pub extern "C" fn yield_now() {
    core::hint::spin_loop();
}

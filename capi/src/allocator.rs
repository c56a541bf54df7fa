//! Section "Object allocation": the custom allocator.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFICustomAllocator;
use ferrite_core::{object_alloc, type_table};

use crate::boundary::{self, arg};

/// Returns the allocator that is set; never null.
///
/// Without a custom allocator this is the built-in one, which clients may call too.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIGetCustomAllocator() -> *mut TVMFFICustomAllocator {
    object_alloc::custom_allocator()
}

/// Sets the allocator that new objects come from; null sets the built-in one.
///
/// Builds with the feature `cxx-abi` take memory for their own objects from `malloc`, as C++ clients do for theirs; there the
/// allocator is only for clients that ask for it.
///
/// Objects made before keep the allocator that they came from. Set it once, early. Returns 0; or -1 with ValueError raised when
/// the record has no function.
///
/// # Safety
/// `allocator` stays valid and unchanged as long as the process runs, and keeps the contract of the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFISetCustomAllocator(allocator: *mut TVMFFICustomAllocator) -> c_int {
    boundary::status(|| {
        if !allocator.is_null() {
            // SAFETY: not null, so valid.
            boundary::callback(unsafe { (*allocator).allocate }, arg(1, "allocator->allocate"))?;
        }
        // What the library keeps for ever does not come from an allocator that may go away.
        type_table::ensure_provided();
        // SAFETY: contract of this function.
        unsafe { object_alloc::set_custom_allocator(allocator) };
        Ok(())
    })
}

//! Symbols of the header section "Object allocation": getting and setting the custom allocator.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFICustomAllocator;
use ferrite_core::names::type_table;
use ferrite_core::object::object_alloc;

use crate::boundary::{self, arg};

/// Returns the current allocator; never null.
///
/// If no custom allocator is set, this is the built-in one. Clients may call either.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIGetCustomAllocator() -> *mut TVMFFICustomAllocator {
    object_alloc::custom_allocator()
}

/// Sets the allocator for new objects. Null restores the built-in one.
///
/// Builds with the feature `cxx-abi` allocate their own objects with `malloc`, as C++ clients do;
/// there the custom allocator is used only by clients that call it explicitly.
///
/// Existing objects keep their allocator. Set it once, early. Returns 0, or -1 with ValueError
/// raised if the allocator's function pointer is null.
///
/// # Safety
/// `allocator` must stay valid and unchanged as long as the process runs, and must meet the
/// contract of `TVMFFICustomAllocator`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFISetCustomAllocator(allocator: *mut TVMFFICustomAllocator) -> c_int {
    boundary::status(|| {
        if !allocator.is_null() {
            // SAFETY: not null, so valid.
            boundary::callback(unsafe { (*allocator).allocate }, arg(1, "allocator->allocate"))?;
        }
        // Registers the library's own permanent objects first, since they must not come from an
        // allocator that may be unloaded.
        type_table::ensure_provided();
        // SAFETY: contract of this function.
        unsafe { object_alloc::set_custom_allocator(allocator) };
        Ok(())
    })
}

//! What visitors and mutators have in common: a table of functions, and the region of definitions where they are.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};
use ferrite_core::sync::atomic::{AtomicI32, Ordering};

use ferrite_core::abi::{TVMFFIDefRegionKind, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::plain_error;

use super::DefRegion;

/// The start of every visitor and mutator. C++ code derives classes from it, and changes the region in place.
///
/// # Upstream
///
/// `StructuralVisitorObj` in `extra/structural_visit.h` and `StructuralMutatorObj` in `extra/structural_mutate.h`.
#[repr(C)]
pub struct WalkerHead {
    /// The header.
    pub header: TVMFFIObject,
    /// The table of functions, which outlives the object.
    pub vtable: *const c_void,
    /// The region of definitions.
    pub def_region_mode: TVMFFIDefRegionKind,
}

const _: () = {
    assert!(offset_of!(WalkerHead, vtable) == size_of::<TVMFFIObject>());
    assert!(offset_of!(WalkerHead, def_region_mode) == size_of::<TVMFFIObject>() + size_of::<usize>());
};

/// A class of visitors or mutators.
///
/// # Safety
///
/// Its objects start with a [`WalkerHead`], whose table is null or a `VTable`.
pub unsafe trait Walker: ObjectClass {
    /// The table of functions.
    type VTable: 'static;
}

fn head<W: Walker>(walker: &W) -> *mut WalkerHead {
    walker.as_object().as_ptr().cast()
}

/// The table of functions.
///
/// # Errors
///
/// ValueError when there is none.
pub fn vtable<W: Walker>(walker: &W) -> Result<&'static W::VTable> {
    // SAFETY: walkers start with this head, and the table outlives them (`Walker`).
    let vtable = unsafe { (*head(walker)).vtable.cast::<W::VTable>().as_ref() };
    vtable.ok_or_else(|| plain_error!(VALUE_ERROR, "The visitor or mutator has no table of functions"))
}

fn mode<W: Walker>(walker: &W) -> &AtomicI32 {
    // SAFETY: walkers start with this head; C++ code changes the region by plain stores of the thread that walks.
    unsafe { AtomicI32::from_ptr(&raw mut (*head(walker)).def_region_mode) }
}

/// The region where the walk is.
pub fn region<W: Walker>(walker: &W) -> DefRegion {
    DefRegion::from_raw(mode(walker).load(Ordering::Relaxed))
}

/// Says where the walk is.
pub fn set_region<W: Walker>(walker: &W, region: DefRegion) {
    mode(walker).store(region.as_raw(), Ordering::Relaxed);
}

/// Runs `body` with the walk in a region, and goes back to where it was. See [`DefRegion::enter`] for regions in regions.
pub fn in_region<W: Walker, R>(walker: &W, inner: DefRegion, body: impl FnOnce() -> R) -> R {
    let outer = region(walker);
    set_region(walker, inner);
    let _back = Back { walker, outer };
    body()
}

/// The region to which the walk goes back, also after a panic.
struct Back<'a, W: Walker> {
    walker: &'a W,
    outer: DefRegion,
}

impl<W: Walker> Drop for Back<'_, W> {
    fn drop(&mut self) {
        set_region(self.walker, self.outer);
    }
}

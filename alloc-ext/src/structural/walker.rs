//! Common part of visitors and mutators: the function table and the current definition region.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};
use core::ptr;
use ferrite_core::platform::sync::atomic::{AtomicI32, Ordering};

use ferrite_core::abi::{TVMFFIDefRegionKind, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::plain_error;

use super::DefRegion;

/// Common first fields of all visitors and mutators. C++ code derives classes from it, and changes
/// the region in place.
///
/// # Upstream
/// `StructuralVisitorObj` in `extra/structural_visit.h` and `StructuralMutatorObj` in
/// `extra/structural_mutate.h`.
#[repr(C)]
pub struct WalkerHead {
    /// Object header.
    pub header: TVMFFIObject,
    /// Function table, which outlives the object; may be null.
    pub vtable: *const c_void,
    /// Current definition region.
    pub def_region_mode: TVMFFIDefRegionKind,
}

const _: () = {
    assert!(offset_of!(WalkerHead, vtable) == size_of::<TVMFFIObject>());
    assert!(
        offset_of!(WalkerHead, def_region_mode) == size_of::<TVMFFIObject>() + size_of::<usize>()
    );
};

/// A class of visitors or mutators.
///
/// # Safety
/// Objects must start with a [`WalkerHead`] whose table is null or a `VTable`, and have the type
/// index that `class_index` returns.
pub unsafe trait Walker: ObjectClass {
    /// Function table of the class.
    type VTable: 'static;

    /// Returns the type index of the class. Registers it on the first call.
    ///
    /// # Errors
    /// MemoryError.
    fn class_index() -> Result<i32>;
}

fn head<W: Walker>(walker: &W) -> *mut WalkerHead {
    walker.as_object().as_ptr().cast()
}

/// Returns the function table of a visitor or mutator.
///
/// # Errors
/// ValueError if the table is null.
pub fn vtable<W: Walker>(walker: &W) -> Result<&'static W::VTable> {
    // SAFETY: walkers start with this head, and the table outlives them (`Walker`).
    let vtable = unsafe { (*head(walker)).vtable.cast::<W::VTable>().as_ref() };
    vtable.ok_or_else(|| {
        plain_error!(VALUE_ERROR, "The visitor or mutator has no table of functions")
    })
}

/// Record of a visitor or mutator created by this library: the head, then the engine.
#[repr(C)]
struct EngineRecord<E> {
    head: WalkerHead,
    engine: E,
}

// SAFETY: repr(C), header first; `create` checks the alignment; the engine is dropped once.
unsafe impl<E> ObjectRecord for EngineRecord<E> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and has no other reference.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<Self>()).engine) };
    }
}

/// Creates a visitor or mutator with an engine, in region [`DefRegion::NONE`].
///
/// # Errors
/// MemoryError.
pub fn create<W: Walker, E: Send + Sync>(vtable: &'static W::VTable, engine: E) -> Result<W> {
    const { assert!(align_of::<EngineRecord<E>>() <= 16) };
    let type_index = W::class_index()?;
    let mut engine = Some(engine);
    let init = |record: *mut EngineRecord<E>| {
        let Some(engine) = engine.take() else { return };
        // SAFETY: the allocation has room for the record.
        unsafe {
            (&raw mut (*record).head.vtable).write(ptr::from_ref(vtable).cast());
            (&raw mut (*record).head.def_region_mode).write(DefRegion::NONE.as_raw());
            (&raw mut (*record).engine).write(engine);
        }
    };
    // SAFETY: `init` runs once and writes all that follows the header; walkers start with this head
    // (`Walker`).
    unsafe {
        object_alloc::allocate(type_index, 0, init).map(|object| W::from_object_unchecked(object))
    }
}

/// Returns the engine of a visitor or mutator, which never changes.
///
/// # Safety
/// `walker` must have been created by [`create`] with an engine of type `E`.
pub unsafe fn engine_of<W: Walker, E>(walker: &W) -> &E {
    // SAFETY: the caller guarantees the record, which the reference keeps alive.
    unsafe { &(*walker.as_object().as_ptr().cast::<EngineRecord<E>>()).engine }
}

fn mode<W: Walker>(walker: &W) -> &AtomicI32 {
    // SAFETY: walkers start with this head; C++ code changes the region by plain stores on the
    // walking thread.
    unsafe { AtomicI32::from_ptr(&raw mut (*head(walker)).def_region_mode) }
}

/// Returns the current definition region.
pub fn region<W: Walker>(walker: &W) -> DefRegion {
    DefRegion::from_raw(mode(walker).load(Ordering::Relaxed))
}

/// Sets the current definition region.
pub fn set_region<W: Walker>(walker: &W, region: DefRegion) {
    mode(walker).store(region.as_raw(), Ordering::Relaxed);
}

/// Sets the definition region, runs `body`, and restores the previous region. See
/// [`DefRegion::enter`] for nested regions.
pub fn in_region<W: Walker, R>(walker: &W, inner: DefRegion, body: impl FnOnce() -> R) -> R {
    let outer = region(walker);
    set_region(walker, inner);
    let _back = Back { walker, outer };
    body()
}

/// Guard that restores the previous definition region when dropped, also during a panic.
struct Back<'a, W: Walker> {
    walker: &'a W,
    outer: DefRegion,
}

impl<W: Walker> Drop for Back<'_, W> {
    fn drop(&mut self) {
        set_region(self.walker, self.outer);
    }
}

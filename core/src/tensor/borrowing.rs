//! Tensor objects over borrowed data: imports of managed tensors, and views of other objects' data.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use super::{Tensor, TensorRef, dlpack_export, export_slot};
use crate::abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, TVMFFIObject, type_index};
use crate::error::{Result, out_of_memory};
use crate::object::borrow::word;
use crate::object::object_alloc::{self, ObjectRecord, allocate};
use crate::object::{ObjectRef, refcount};
use crate::value::shape::row_major_strides_reversed;
use crate::value::store_forwarding;

/// Kind of the owner that keeps the data alive.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Owner {
    /// A managed tensor in DLPack's versioned representation.
    Versioned,
    /// A managed tensor in DLPack's legacy representation.
    Managed,
    /// An object; usually the tensor of which this one is a view.
    Object,
    /// A managed tensor in versioned representation that this library exported: the keeper is the
    /// exported tensor, which the managed tensor keeps alive. Only if [`OWN_EXPORTS`].
    OwnVersioned,
    /// A managed tensor in legacy representation that this library exported.
    OwnManaged,
}

impl Owner {
    /// Converts the kind of a foreign managed tensor to the kind of an export of this library.
    #[inline(always)]
    fn of_own_export(self) -> Owner {
        if self == Owner::Versioned { Owner::OwnVersioned } else { Owner::OwnManaged }
    }
}

/// Record of a tensor over borrowed data. Behind it come [`MANAGED_BYTES`] for the managed tensor,
/// if this library exported it, and copied lists: the strides of an import that has none, or the
/// shape and strides of a view.
#[repr(C)]
struct BorrowingTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    keeper: *mut c_void,
    owner: Owner,
    is_exported: export_slot::SlotFlag,
    managed: export_slot::ExportSlot,
}

/// Whether imports of tensors that this library exported share the borrows of the tensors.
/// Size-optimised builds import them as those of other libraries, which saves 176 bytes of flash:
/// only unsafe code imports.
pub(super) const OWN_EXPORTS: bool = cfg!(feature = "speed");

/// Bytes for the managed tensor behind the record, which keep the lists aligned. Every record has
/// them: one size costs less than two.
const MANAGED_BYTES: usize = if OWN_EXPORTS { size_of::<i64>() } else { 0 };

// Kernel libraries of other versions read the keeper of views that this library makes: its place is
// part of the ABI.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(core::mem::offset_of!(BorrowingTensor, keeper) == 72);
#[cfg(all(target_pointer_width = "32", not(any(target_arch = "x86", feature = "speed"))))]
const _: () = assert!(size_of::<BorrowingTensor>() == 72);

// SAFETY: the header comes first; the owner of the data is released once, when the object is
// destroyed.
unsafe impl ObjectRecord for BorrowingTensor {
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = delete;

    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is alive until its destruction ends, and owns the keeper of the data;
        // the producer of a managed tensor guarantees its deleter.
        unsafe {
            let record = this.cast::<BorrowingTensor>();
            match (*record).owner {
                Owner::Object => {
                    drop(ObjectRef::from_raw(NonNull::new_unchecked((*record).keeper.cast())));
                }
                Owner::Versioned => delete_versioned((*record).keeper),
                owner => delete_rare(record, owner),
            }
        }
    }
}

/// Deletes the managed tensor of a legacy import, or of an import of an own export. Out of line, so
/// that the common kinds of owners take two comparisons.
///
/// # Safety
/// The record must be that of a live import with this owner, and must not be used afterwards.
#[cfg_attr(feature = "speed", inline(never))]
unsafe fn delete_rare(record: *mut BorrowingTensor, owner: Owner) {
    // SAFETY: the caller guarantees the record.
    unsafe {
        match owner {
            Owner::OwnVersioned if OWN_EXPORTS => delete_versioned(managed_tensor(record)),
            Owner::OwnManaged if OWN_EXPORTS => delete_legacy(managed_tensor(record)),
            _ => delete_legacy((*record).keeper),
        }
    }
}

/// Deletes a managed tensor in versioned representation.
///
/// # Safety
/// The managed tensor must be versioned, and must not be used afterwards.
#[inline(always)]
unsafe fn delete_versioned(managed: *mut c_void) {
    let managed = managed.cast::<DLManagedTensorVersioned>();
    // SAFETY: the caller guarantees the managed tensor, its producer the deleter.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

/// Deletes a managed tensor in legacy representation.
///
/// # Safety
/// Same requirements as [`delete_versioned`].
#[inline(always)]
unsafe fn delete_legacy(managed: *mut c_void) {
    let managed = managed.cast::<DLManagedTensor>();
    // SAFETY: as above.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

/// Returns the managed tensor of an import of an own export.
///
/// # Safety
/// The record must be that of a live import whose owner is `OwnVersioned` or `OwnManaged`.
#[inline(always)]
unsafe fn managed_tensor(record: *mut BorrowingTensor) -> *mut c_void {
    // SAFETY: the caller guarantees the record, which the managed tensor follows.
    unsafe { record.add(1).cast::<*mut c_void>().read() }
}

/// Deleter of tensors over borrowed data, which its address identifies. Never inlined, so that the
/// address is unique.
#[inline(never)]
unsafe extern "C" fn delete(object: *mut c_void, flags: c_int) {
    // SAFETY: only set as the deleter of these records.
    unsafe { object_alloc::delete::<BorrowingTensor>(object, flags) };
}

/// Offset of the owner of the elements in the record of a view, in bytes.
pub const KEEPER_OFFSET: usize = core::mem::offset_of!(BorrowingTensor, keeper);

/// Makes a tensor share the borrows of the object that owns its elements.
///
/// # Safety
/// `tensor` must be a tensor object without borrows that no other thread can access. At
/// [`KEEPER_OFFSET`] its record must have a pointer to the owner, which lives as long as the
/// tensor, does not change while it is used, and whose borrow state has no other use.
#[inline(always)]
pub unsafe fn share_borrows_of_owner(tensor: *mut TVMFFIObject) {
    // SAFETY: the caller guarantees the object.
    unsafe { (*tensor).padding = word::FORWARDED };
}

/// Refuses all later borrows of a tensor's elements for writing. The tensor shares no borrows with
/// an owner afterwards.
///
/// # Safety
/// `tensor` must be a tensor object without borrows that no other thread can access.
#[inline(always)]
pub unsafe fn refuse_writers(tensor: *mut TVMFFIObject) {
    // A shared borrow that does not end.
    // SAFETY: the caller guarantees the object.
    unsafe { (*tensor).padding = 1 };
}

/// Returns the DLPack flags of the import at the end of a chain of views. Returns 0 if there is
/// none.
///
/// # Safety
/// `object` must be a live tensor object, or an object that keeps the elements of a tensor alive.
pub(super) unsafe fn inherited_flags(mut object: *mut TVMFFIObject) -> u64 {
    // SAFETY: the first object is alive by contract, each further one because the previous view
    // keeps it alive. Only records of this file have that deleter; those of other libraries are
    // views if their borrow state says so.
    unsafe {
        loop {
            let record = record_of(object).map(|record| (record, (*record).owner));
            object = match record {
                Some((record, Owner::Versioned)) => {
                    return (*(*record).keeper.cast::<DLManagedTensorVersioned>()).flags;
                }
                Some((record, Owner::OwnVersioned)) if OWN_EXPORTS => {
                    return (*managed_tensor(record).cast::<DLManagedTensorVersioned>()).flags;
                }
                Some((record, Owner::Object)) => (*record).keeper.cast(),
                _ if OWN_EXPORTS && word::is_forwarded(object) => {
                    keeper(NonNull::new_unchecked(object)).as_ptr()
                }
                _ => return 0,
            }
        }
    }
}

/// Returns the object that owns the data of a view; `None` for other tensors.
///
/// # Safety
/// `tensor` must be a live tensor object.
pub(super) unsafe fn source(tensor: &ObjectRef) -> Option<&ObjectRef> {
    // SAFETY: the tensor is alive. A reference is a transparent newtype over the pointer, which a
    // view never changes.
    unsafe {
        let record = record_of(tensor.as_ptr())?;
        ((*record).owner == Owner::Object)
            .then(|| &*(&raw const (*record).keeper).cast::<ObjectRef>())
    }
}

/// Returns the object that has the borrows of a tensor's elements: the owner of the elements, or a
/// tensor that shares the borrows of its own owner.
///
/// # Safety
/// `view` must be a live tensor whose borrow state is [`word::FORWARDED`]: a record of this file,
/// perhaps of another library, or a tensor that was passed to [`share_borrows_of_owner`].
#[inline(always)]
pub(super) unsafe fn keeper(view: NonNull<TVMFFIObject>) -> NonNull<TVMFFIObject> {
    // SAFETY: the caller's promise; the keeper of such a view is an object.
    unsafe { NonNull::new_unchecked((*view.as_ptr().cast::<BorrowingTensor>()).keeper.cast()) }
}

/// Claims the export slot of a tensor for a managed tensor of either representation. Returns `None`
/// if the tensor has no slot or the slot is in use.
///
/// # Safety
/// `object` must be a live tensor object, and stay alive until [`release_export_slot`].
#[inline(always)]
pub(super) unsafe fn claim_export_slot(object: *mut TVMFFIObject) -> Option<NonNull<c_void>> {
    // SAFETY: the object is alive, and only records of this file have that deleter. The flag is
    // only accessed as such.
    unsafe {
        let record = record_of(object)?;
        export_slot::claim(&(*record).is_exported)
            .then(|| NonNull::new_unchecked((&raw mut (*record).managed).cast()))
    }
}

/// Releases the export slot of a tensor, whose managed tensor is no longer used.
///
/// # Safety
/// The caller must have claimed the slot of this live object with [`claim_export_slot`].
#[inline(always)]
pub(super) unsafe fn release_export_slot(object: *mut TVMFFIObject) {
    // SAFETY: the caller guarantees the object; the flag is only accessed as such.
    unsafe { export_slot::release(&(*object.cast::<BorrowingTensor>()).is_exported) };
}

/// Returns the record of a tensor over borrowed data, or `None` for other tensors.
///
/// # Safety
/// `object` must be a live tensor object.
#[inline(always)]
unsafe fn record_of(object: *mut TVMFFIObject) -> Option<*mut BorrowingTensor> {
    // SAFETY: the object is alive.
    let deleter = unsafe { (*object).deleter.deleter }?;
    ptr::fn_addr_eq(deleter, BorrowingTensor::DELETER).then_some(object.cast())
}

/// Creates a tensor like `prototype` that owns `keeper`, which keeps the data alive. The keeper of
/// a view is an object, which is retained, and the shape and strides of a view are copied. Missing
/// strides become those of a compact tensor, except for imports without dimensions, whose strides
/// stay null as in upstream.
///
/// # Safety
/// The shape of `prototype` must have been checked, and the keeper must be live and of the stated
/// kind.
#[inline(never)]
pub(super) unsafe fn make(
    prototype: &DLTensor,
    keeper: *mut c_void,
    owner: Owner,
) -> Result<Tensor> {
    // SAFETY: the caller guarantees the prototype.
    let shape = unsafe { TensorRef::from_raw(prototype) }.shape();
    let strides = prototype.strides;
    let copies = owner == Owner::Object;
    let lists = match strides.is_null() {
        _ if copies => 2,
        true => 1,
        false => 0,
    };
    let bytes =
        size_of_val(shape).checked_mul(lists).and_then(|bytes| bytes.checked_add(MANAGED_BYTES));
    let Some(trailing_bytes) = bytes else {
        return Err(out_of_memory(usize::MAX));
    };
    let init = |record: *mut BorrowingTensor| {
        // SAFETY: `record` is a new object with space for the managed tensor and the lists after
        // it.
        unsafe {
            describe(record, prototype, keeper, owner);
            let mut list = lists_of(record);
            if copies {
                retain_owner(record);
                list.copy_from_nonoverlapping(shape.as_ptr(), shape.len());
                (*record).tensor.shape = list;
                list = list.add(shape.len());
            }
            if !copies && (shape.is_empty() || !strides.is_null()) {
                return;
            }
            if strides.is_null() {
                for (index, stride) in row_major_strides_reversed(shape).enumerate() {
                    list.add(shape.len() - 1 - index).write(stride);
                }
            } else {
                list.copy_from_nonoverlapping(strides, shape.len());
            }
            (*record).tensor.strides = list;
        }
    };
    // SAFETY: `init` writes every field beside the header, and index 70 is that of tensors.
    let object = unsafe { allocate::<BorrowingTensor>(type_index::TENSOR, trailing_bytes, init) }?;
    Ok(Tensor(object))
}

/// Creates a view like [`make`]. Fast path for prototypes with [`has_small_lists`].
///
/// # Safety
/// `prototype` must have small lists, and its data must live as long as `owner`.
///
/// [`has_small_lists`]: super::dlpack_import::has_small_lists
#[inline(always)]
pub(super) unsafe fn make_view(prototype: &DLTensor, owner: &ObjectRef) -> Result<Tensor> {
    let ndim = prototype.ndim as usize;
    let init = |record: *mut BorrowingTensor| {
        // SAFETY: `record` is a new object with space for both lists after it; the caller
        // guarantees the lists.
        unsafe {
            describe(record, prototype, owner.as_ptr().cast(), Owner::Object);
            retain_owner(record);
            let lists = lists_of(record);
            store_forwarding::copy_lists([prototype.shape, prototype.strides], lists, ndim);
            (*record).tensor.shape = lists;
            (*record).tensor.strides = lists.add(ndim);
        }
    };
    // Cannot overflow: small lists have fewer than 64 values each.
    let trailing_bytes = MANAGED_BYTES + 2 * ndim * size_of::<i64>();
    // SAFETY: `init` writes every field beside the header, and index 70 is that of tensors.
    Ok(Tensor(unsafe { allocate::<BorrowingTensor>(type_index::TENSOR, trailing_bytes, init) }?))
}

/// Returns the address of the lists behind a record.
///
/// # Safety
/// The record must be followed by [`MANAGED_BYTES`].
#[inline(always)]
unsafe fn lists_of(record: *mut BorrowingTensor) -> *mut i64 {
    // SAFETY: the caller's promise.
    unsafe { record.add(1).byte_add(MANAGED_BYTES).cast() }
}

/// Retains the object that owns the data of a new view. If it is a tensor, the view shares its
/// borrows.
///
/// # Safety
/// The keeper of the new record must be a live object.
#[inline(always)]
unsafe fn retain_owner(record: *mut BorrowingTensor) {
    // SAFETY: the caller's promise.
    unsafe {
        let owner = (*record).keeper.cast::<TVMFFIObject>();
        refcount::retain(owner);
        if (*owner).type_index == type_index::TENSOR {
            share_borrows_of_owner(record.cast());
        }
    }
}

/// Creates a tensor like [`make`] for an import that has strides, so that no list is copied.
///
/// # Safety
/// Same requirements as [`make`].
#[inline(always)]
pub(super) unsafe fn make_without_lists(
    prototype: &DLTensor,
    keeper: *mut c_void,
    owner: Owner,
) -> Result<Tensor> {
    // SAFETY: the record belongs to a new object, and the caller guarantees the rest.
    let init = move |record| unsafe { describe(record, prototype, keeper, owner) };
    // SAFETY: `init` writes every field beside the header, and index 70 is that of tensors.
    Ok(Tensor(unsafe { allocate::<BorrowingTensor>(type_index::TENSOR, MANAGED_BYTES, init) }?))
}

/// Writes all fields except the type in the header. An import of a managed tensor that this library
/// exported shares the borrows of the exported tensor.
///
/// # Safety
/// `record` must belong to a new object, with [`MANAGED_BYTES`] behind it. The keeper must be live
/// and of the stated kind.
#[inline(always)]
unsafe fn describe(
    record: *mut BorrowingTensor,
    prototype: &DLTensor,
    keeper: *mut c_void,
    owner: Owner,
) {
    // SAFETY: the caller's promise.
    unsafe {
        store_forwarding::copy_dl_tensor(prototype, &raw mut (*record).tensor);
        (*record).keeper = keeper;
        (*record).owner = owner;
        (&raw mut (*record).is_exported).write(export_slot::vacant());
        if owner != Owner::Object
            && let Some(exporter) = dlpack_export::exporter(keeper, owner)
        {
            record.add(1).cast::<*mut c_void>().write(keeper);
            (*record).keeper = exporter.as_ptr().cast();
            (*record).owner = owner.of_own_export();
            share_borrows_of_owner(record.cast());
        }
    }
}

//! Tensor objects over data that something else keeps: a managed tensor, or an object, such as the tensor that they are a view of.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use super::{Tensor, TensorRef, export_slot};
use crate::abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, TVMFFIObject};
use crate::error::{Result, out_of_memory};
use crate::object::ObjectRef;
use crate::object_alloc::{self, ObjectRecord, allocate};
use crate::shape::row_major_strides_reversed;
use crate::{refcount, store_forwarding, type_index};

/// What keeps the data.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Owner {
    /// A managed tensor of the versioned form.
    Versioned,
    /// A managed tensor of the legacy form.
    Managed,
    /// An object: mostly the tensor that this one is a view of.
    Object,
}

/// Such a tensor. Lists of extents follow in place: the strides of an import that has none, shape and strides of a view.
#[repr(C)]
struct BorrowingTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    keeper: *mut c_void,
    owner: Owner,
    is_exported: export_slot::SlotFlag,
    managed: export_slot::ExportSlot,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(core::mem::offset_of!(BorrowingTensor, keeper) == 72);
#[cfg(all(target_pointer_width = "32", not(any(target_arch = "x86", feature = "speed"))))]
const _: () = assert!(size_of::<BorrowingTensor>() == 72);

// SAFETY: the header comes first; what keeps the data is given back once, when the object dies.
unsafe impl ObjectRecord for BorrowingTensor {
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = delete;

    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is alive until its destruction ends, and owns what keeps the data; the producer of a managed
        // tensor vouches for its deleter.
        unsafe {
            let BorrowingTensor { keeper, owner, .. } = *this.cast::<BorrowingTensor>();
            match owner {
                Owner::Versioned => {
                    let managed = keeper.cast::<DLManagedTensorVersioned>();
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Owner::Managed => {
                    let managed = keeper.cast::<DLManagedTensor>();
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Owner::Object => drop(ObjectRef::from_raw(NonNull::new_unchecked(keeper.cast()))),
            }
        }
    }
}

/// The deleter of such tensors; its one address, hence never inlined, tells them from other tensors.
#[inline(never)]
unsafe extern "C" fn delete(object: *mut c_void, flags: c_int) {
    // SAFETY: only set as the deleter of such records.
    unsafe { object_alloc::delete::<BorrowingTensor>(object, flags) };
}

/// The flags of the import at the bottom of a chain of views; 0 when there is none.
///
/// # Safety
/// `object` must be a live tensor object.
pub(super) unsafe fn inherited_flags(mut object: *mut TVMFFIObject) -> u64 {
    // SAFETY: the object is alive: the first by contract, each further one because the view before keeps it so. Only records of
    // this file have that deleter.
    unsafe {
        while let Some(record) = of_this_file(object) {
            let BorrowingTensor { keeper, owner, .. } = *record;
            match owner {
                Owner::Versioned => return (*keeper.cast::<DLManagedTensorVersioned>()).flags,
                Owner::Managed => break,
                Owner::Object => object = keeper.cast(),
            }
        }
    }
    0
}

/// Claims the room in the tensor for a managed tensor of either form; None when it has none or another export is there.
///
/// # Safety
/// `object` must be a live tensor object, and stay so until [`release_export_slot`].
#[inline(always)]
pub(super) unsafe fn claim_export_slot(object: *mut TVMFFIObject) -> Option<NonNull<c_void>> {
    // SAFETY: the object is alive, and only records of this file have that deleter. The flag is only used as one.
    unsafe {
        let record = of_this_file(object)?;
        export_slot::claim(&(*record).is_exported)
            .then(|| NonNull::new_unchecked((&raw mut (*record).managed).cast()))
    }
}

/// Gives back the room of a managed tensor that is not used any more.
///
/// # Safety
/// The caller got it from [`claim_export_slot`] of this live object.
#[inline(always)]
pub(super) unsafe fn release_export_slot(object: *mut TVMFFIObject) {
    // SAFETY: the caller vouches for the object; the flag is only used as one.
    unsafe { export_slot::release(&(*object.cast::<BorrowingTensor>()).is_exported) };
}

/// The record of a tensor of this file, None for other tensors.
///
/// # Safety
/// `object` must be a live tensor object.
#[inline(always)]
unsafe fn of_this_file(object: *mut TVMFFIObject) -> Option<*mut BorrowingTensor> {
    // SAFETY: the object is alive.
    let deleter = unsafe { (*object).deleter.deleter }?;
    ptr::fn_addr_eq(deleter, BorrowingTensor::DELETER).then_some(object.cast())
}

/// Makes a tensor as `prototype` says, which takes over the keeper of its data; of an object it gets a reference of its
/// own. A view gets a copy of shape and strides; strides that are not there are those of a compact tensor, but for imports
/// without dimensions, which upstream leaves without.
///
/// # Safety
/// The shape of `prototype` was checked, and the keeper is a live object of that kind.
#[inline(never)]
pub(super) unsafe fn make(prototype: &DLTensor, keeper: *mut c_void, owner: Owner) -> Result<Tensor> {
    // SAFETY: the caller vouches for the prototype.
    let shape = unsafe { TensorRef::from_raw(prototype) }.shape();
    let strides = prototype.strides;
    let copies = owner == Owner::Object;
    let lists = match strides.is_null() {
        _ if copies => 2,
        true => 1,
        false => 0,
    };
    let Some(trailing_bytes) = size_of_val(shape).checked_mul(lists) else {
        return Err(out_of_memory(usize::MAX));
    };
    let init = |record: *mut BorrowingTensor| {
        // SAFETY: `record` is a fresh object with room for the lists behind it.
        unsafe {
            describe(record, prototype, keeper, owner);
            let mut list = record.add(1).cast::<i64>();
            if copies {
                refcount::retain(keeper.cast());
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

/// As [`make`], for an import that has strides.
///
/// # Safety
/// As [`make`].
#[inline(always)]
pub(super) unsafe fn make_without_lists(
    prototype: &DLTensor,
    keeper: *mut c_void,
    owner: Owner,
) -> Result<Tensor> {
    // SAFETY: the record is that of a fresh object, and the caller vouches for the rest.
    let init = move |record| unsafe { describe(record, prototype, keeper, owner) };
    // SAFETY: `init` writes every field beside the header, and index 70 is that of tensors.
    Ok(Tensor(unsafe { allocate::<BorrowingTensor>(type_index::TENSOR, 0, init) }?))
}

/// Writes the fields beside the header.
///
/// # Safety
/// `record` is that of a fresh object.
#[inline(always)]
unsafe fn describe(record: *mut BorrowingTensor, prototype: &DLTensor, keeper: *mut c_void, owner: Owner) {
    // SAFETY: as the caller vouches.
    unsafe {
        store_forwarding::copy_dl_tensor(prototype, &raw mut (*record).tensor);
        (*record).keeper = keeper;
        (*record).owner = owner;
        (&raw mut (*record).is_exported).write(export_slot::vacant());
    }
}

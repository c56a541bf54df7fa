//! DLPack export: managed tensors, in both forms, that refer to this library's tensors.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

use super::Tensor;
use super::borrowing::{self, Owner};
use super::dlpack_import::DLPackForm;
use crate::abi::{
    DLManagedTensor, DLManagedTensorVersioned, DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION,
    DLPackVersion, TVMFFIObject,
};
use crate::error::{Result, out_of_memory};
use crate::object::ObjectRef;
use crate::platform::memory;

impl Tensor {
    /// Creates a managed tensor in DLPack's legacy representation. It shares data, shape and
    /// strides with this tensor and keeps it alive.
    ///
    /// The caller owns the result and must call its deleter once, on any thread.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `TVMFFITensorToDLPack`.
    pub fn to_dlpack(&self) -> Result<NonNull<DLManagedTensor>> {
        export(self, DLPackForm::Legacy).map(NonNull::cast)
    }

    /// Creates a managed tensor in DLPack's versioned representation, like [`Tensor::to_dlpack`].
    ///
    /// If this tensor, or the tensor of which it is a view, was imported from a versioned managed
    /// tensor, the flags are the same. Otherwise they are 0.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let tensor = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    /// let managed = tensor.to_dlpack_versioned()?;
    /// drop(tensor); // the managed tensor keeps the elements
    /// // SAFETY: the managed tensor is ours, and the import takes it over.
    /// let again = unsafe { Tensor::from_dlpack_versioned(managed.as_ptr(), 0, false)? };
    /// assert_eq!(again.as_slice::<f32>()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `TVMFFITensorToDLPackVersioned`, whose flags are always 0, so that a read-only tensor loses
    /// its flag.
    pub fn to_dlpack_versioned(&self) -> Result<NonNull<DLManagedTensorVersioned>> {
        export(self, DLPackForm::Versioned).map(NonNull::cast)
    }
}

/// Creates a managed tensor of either representation, like [`Tensor::to_dlpack`] and
/// [`Tensor::to_dlpack_versioned`].
///
/// # Errors
/// MemoryError.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
pub fn export(tensor: &Tensor, form: DLPackForm) -> Result<NonNull<c_void>> {
    let object = tensor.0.as_ptr();
    // SAFETY: the tensor is alive, and the reference of the managed tensor keeps it alive.
    let room = unsafe { borrowing::claim_export_slot(object) };
    let block = match room {
        Some(room) => room,
        None => allocate(form)?,
    };
    let manager_ctx = tensor.0.clone().into_raw().as_ptr().cast();
    // SAFETY: the block is owned here and has the size and alignment of the record; the reference
    // keeps the object alive.
    unsafe {
        let to = match form {
            DLPackForm::Legacy => {
                let managed = block.cast::<DLManagedTensor>().as_ptr();
                (*managed).manager_ctx = manager_ctx;
                (*managed).deleter =
                    Some(if room.is_some() { delete_legacy_slot } else { delete_legacy_block });
                &raw mut (*managed).dl_tensor
            }
            DLPackForm::Versioned => {
                let managed = block.cast::<DLManagedTensorVersioned>().as_ptr();
                (*managed).version =
                    DLPackVersion { major: DLPACK_MAJOR_VERSION, minor: DLPACK_MINOR_VERSION };
                (*managed).manager_ctx = manager_ctx;
                (*managed).deleter = Some(if room.is_some() {
                    delete_versioned_slot
                } else {
                    delete_versioned_block
                });
                (*managed).flags = borrowing::inherited_flags(object);
                &raw mut (*managed).dl_tensor
            }
        };
        to.copy_from_nonoverlapping(tensor.dl_tensor(), 1);
    }
    Ok(block)
}

/// Allocates a managed tensor outside of its tensor object.
fn allocate(form: DLPackForm) -> Result<NonNull<c_void>> {
    let layout = match form {
        DLPackForm::Legacy => Layout::new::<DLManagedTensor>(),
        DLPackForm::Versioned => Layout::new::<DLManagedTensorVersioned>(),
    };
    match memory::allocate(layout) {
        Some(block) => Ok(block.cast()),
        None => Err(out_of_memory(layout.size())),
    }
}

/// Returns the tensor object that a managed tensor of a kind refers to if this library exported it.
///
/// # Safety
/// `managed` must be a live managed tensor of this kind, not an object.
#[inline(always)]
pub(super) unsafe fn exporter(managed: *mut c_void, owner: Owner) -> Option<NonNull<TVMFFIObject>> {
    if !borrowing::OWN_EXPORTS {
        return None;
    }
    // SAFETY: the caller guarantees the record; only exports of this library have these deleters,
    // and their contexts are the tensors.
    unsafe {
        let (is_own, context) = match owner {
            Owner::Versioned => {
                let managed = managed.cast::<DLManagedTensorVersioned>();
                let deleters: [DeleteVersioned; 2] =
                    [delete_versioned_slot, delete_versioned_block];
                let is_own = |deleter| deleters.iter().any(|own| ptr::fn_addr_eq(*own, deleter));
                ((*managed).deleter.is_some_and(is_own), (*managed).manager_ctx)
            }
            _ => {
                let managed = managed.cast::<DLManagedTensor>();
                let deleters: [DeleteLegacy; 2] = [delete_legacy_slot, delete_legacy_block];
                let is_own = |deleter| deleters.iter().any(|own| ptr::fn_addr_eq(*own, deleter));
                ((*managed).deleter.is_some_and(is_own), (*managed).manager_ctx)
            }
        };
        if is_own { NonNull::new(context.cast()) } else { None }
    }
}

type DeleteLegacy = unsafe extern "C" fn(*mut DLManagedTensor);
type DeleteVersioned = unsafe extern "C" fn(*mut DLManagedTensorVersioned);

/// Defines the deleters of exports, which their addresses identify: not generic and never inlined,
/// so that each has one address in a binary.
macro_rules! deleters {
    ($($name:ident: $managed:ty, in slot: $in_slot:literal;)*) => {$(
        #[inline(never)]
        unsafe extern "C" fn $name(managed: *mut $managed) {
            // SAFETY: the consumer owns the record, made by `export`, and deletes it once.
            unsafe { delete::<_, $in_slot>(managed, |record| record.manager_ctx) };
        }
    )*};
}

deleters! {
    delete_legacy_slot: DLManagedTensor, in slot: true;
    delete_legacy_block: DLManagedTensor, in slot: false;
    delete_versioned_slot: DLManagedTensorVersioned, in slot: true;
    delete_versioned_block: DLManagedTensorVersioned, in slot: false;
}

/// Deletes a managed tensor and releases its reference to the tensor object. Null is ignored.
///
/// # Safety
/// `managed` must be null, or an exported record that is no longer used. `IN_SLOT` is true if the
/// record is in the tensor's export slot.
#[inline(always)]
unsafe fn delete<M, const IN_SLOT: bool>(managed: *mut M, context: impl FnOnce(&M) -> *mut c_void) {
    let Some(managed) = NonNull::new(managed) else { return };
    // SAFETY: the record owns one reference to the tensor object and came from `export`. Until the
    // reference is released it keeps the export slot valid.
    unsafe {
        let object = NonNull::new(context(managed.as_ref()).cast::<TVMFFIObject>());
        if !IN_SLOT {
            memory::release(managed.cast(), Layout::new::<M>());
        } else if let Some(object) = object {
            borrowing::release_export_slot(object.as_ptr());
        }
        drop(object.map(|object| ObjectRef::from_raw(object)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DLPACK_FLAG_BITMASK_IS_COPIED, DLPACK_FLAG_BITMASK_READ_ONLY};
    use crate::object::ObjectClass;

    #[test]
    fn an_export_shares_data_and_keeps_the_tensor_alive() {
        let tensor = Tensor::from_slice(&[1i32, 2, 3], &[3]).unwrap();
        let data = tensor.as_tensor_ref().data_ptr();
        let managed = tensor.to_dlpack().unwrap();
        assert_eq!(tensor.as_object().strong_count(), 2);
        drop(tensor);
        // SAFETY: the export is alive until its deleter runs, below.
        unsafe {
            let record = managed.as_ref();
            assert_eq!(
                (record.dl_tensor.data, record.dl_tensor.ndim, *record.dl_tensor.shape),
                (data, 1, 3)
            );
            record.deleter.unwrap()(managed.as_ptr());
        }
    }

    #[test]
    fn a_round_trip_ends_with_the_same_data() {
        let tensor = Tensor::from_slice(&[1u8, 2], &[2]).unwrap();
        let managed = tensor.to_dlpack_versioned().unwrap();
        // SAFETY: the export is owned here and moves into the import.
        let back = unsafe { Tensor::from_dlpack_versioned(managed.as_ptr(), 64, true) }.unwrap();
        assert_eq!(back.as_slice::<u8>().unwrap(), tensor.as_slice::<u8>().unwrap());
        assert_eq!(tensor.as_object().strong_count(), 2);
        drop(back);
        assert!(tensor.as_object().is_unique());
    }

    struct Exported(NonNull<DLManagedTensorVersioned>);

    // SAFETY: DLPack lets a consumer call the deleter on any thread.
    unsafe impl Send for Exported {}

    impl Drop for Exported {
        fn drop(&mut self) {
            // SAFETY: the export is owned here.
            unsafe { self.0.as_ref().deleter.unwrap()(self.0.as_ptr()) };
        }
    }

    #[test]
    fn the_deleter_may_run_on_another_thread() {
        let tensor = Tensor::from_slice(&[1u8], &[1]).unwrap();
        let exported = Exported(tensor.to_dlpack_versioned().unwrap());
        drop(tensor);
        std::thread::spawn(move || drop(exported)).join().unwrap();
    }

    #[test]
    fn flags_of_an_import_are_exported_again() {
        let flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
        let source = Tensor::from_slice(&[1u8, 2], &[2]).unwrap().to_dlpack_versioned().unwrap();
        // SAFETY: the export is owned here and moves into the import.
        let tensor = unsafe {
            assert_eq!((*source.as_ptr()).flags, 0);
            (*source.as_ptr()).flags = flags;
            Tensor::from_dlpack_versioned(source.as_ptr(), 0, false)
        }
        .unwrap();
        // SAFETY: the prototype describes the tensor itself.
        let view = unsafe { tensor.create_unsafe_view(tensor.dl_tensor()) }.unwrap();
        for tensor in [tensor, view] {
            let exported = tensor.to_dlpack_versioned().unwrap().as_ptr();
            // SAFETY: the export is owned here.
            unsafe {
                assert_eq!((*exported).flags, flags);
                (*exported).deleter.unwrap()(exported);
            }
        }
    }

    /// Makes a tensor that imports the export of another.
    fn imported() -> Tensor {
        let source = Tensor::from_slice(&[1u8, 2], &[2]).unwrap().to_dlpack_versioned().unwrap();
        // SAFETY: the export is owned here and moves into the import.
        unsafe { Tensor::from_dlpack_versioned(source.as_ptr(), 0, false) }.unwrap()
    }

    #[test]
    fn exports_of_an_import_are_apart_and_use_its_room_again() {
        let tensor = imported();
        let first = Exported(tensor.to_dlpack_versioned().unwrap());
        let second = Exported(tensor.to_dlpack_versioned().unwrap());
        let legacy = tensor.to_dlpack().unwrap();
        assert!(first.0 != second.0 && first.0 != legacy.cast() && second.0 != legacy.cast());
        let place = first.0.addr();
        drop(first);
        let again = tensor.to_dlpack().unwrap();
        assert!(again.addr() == place || !cfg!(feature = "speed"));
        assert_eq!(tensor.as_object().strong_count(), 4);
        drop(tensor);
        // SAFETY: the exports are alive until their deleters run.
        unsafe {
            for managed in [again, legacy] {
                assert_eq!(*managed.as_ref().dl_tensor.data.cast::<u8>(), 1);
                managed.as_ref().deleter.unwrap()(managed.as_ptr());
            }
            assert_eq!(*second.0.as_ref().dl_tensor.data.cast::<u8>(), 1);
        }
    }

    /// Exports a tensor and imports it, in a form, with all checks or on the fast path.
    fn round_trip(tensor: &Tensor, form: DLPackForm, checked: bool) -> Tensor {
        let managed = export(tensor, form).unwrap();
        // SAFETY: the export is owned here and moves into the import.
        unsafe { crate::tensor::import(managed.as_ptr(), 0, checked, form) }.unwrap()
    }

    fn in_use<T>(outcome: Result<T>) -> bool {
        outcome.is_err_and(|error| error.kind_bytes() == b"RuntimeError")
    }

    #[test]
    #[cfg_attr(not(feature = "speed"), ignore = "size-optimised builds do not know their exports")]
    fn imports_of_an_export_share_the_borrows_of_the_tensor() -> Result<()> {
        let tensor = Tensor::from_slice(&[1i32, 2, 3], &[3])?;
        let mut tensors = std::vec![tensor.clone()];
        for form in [DLPackForm::Legacy, DLPackForm::Versioned] {
            for checked in [false, true] {
                let import = round_trip(&tensor, form, checked);
                tensors.push(round_trip(&import, form, checked));
                // SAFETY: the prototype describes the tensor itself.
                tensors.push(unsafe { import.create_unsafe_view(import.dl_tensor()) }?);
                // Its export is in the import, in builds with slots, and outside while another one
                // has the slot.
                let first = Exported(import.to_dlpack_versioned()?);
                tensors.push(round_trip(&import, form, checked));
                drop(first);
                tensors.push(import);
            }
        }
        drop(tensor);
        for one in &tensors {
            let elements = one.borrow_mut::<i32>()?;
            assert!(
                tensors
                    .iter()
                    .all(|other| in_use(other.as_slice::<i32>())
                        && in_use(other.borrow_mut::<i32>()))
            );
            drop(elements);
            let elements = one.as_slice::<i32>()?;
            assert!(
                tensors
                    .iter()
                    .all(|other| in_use(other.borrow_mut::<i32>())
                        && !in_use(other.as_slice::<i32>()))
            );
            assert_eq!(elements, [1, 2, 3]);
        }
        let last = tensors.pop().unwrap();
        drop(tensors);
        last.borrow_mut::<i32>()?.fill(4);
        Ok(())
    }

    #[test]
    #[cfg_attr(not(feature = "speed"), ignore = "size-optimised builds do not know their exports")]
    fn an_import_without_dimensions_shares_the_borrows_of_the_tensor() -> Result<()> {
        let tensor = Tensor::from_slice(&[1i32], &[])?;
        // Without strides, those of the import are made, behind its managed tensor.
        let strided = Tensor::from_slice(&[1i32, 2], &[2])?.to_dlpack()?.as_ptr();
        // SAFETY: the export is owned here and moves into the import.
        let strided = unsafe {
            (*strided).dl_tensor.strides = ptr::null_mut();
            Tensor::from_dlpack(strided, 0, true)?
        };
        assert_eq!((strided.strides(), strided.shape()), (Some(&[1][..]), &[2][..]));
        let import = round_trip(&tensor, DLPackForm::Versioned, false);
        let elements = import.as_slice::<i32>()?;
        assert!(in_use(tensor.borrow_mut::<i32>()));
        assert_eq!(elements, [1]);
        Ok(())
    }

    #[test]
    #[cfg_attr(not(feature = "speed"), ignore = "size-optimised builds do not know their exports")]
    fn an_import_of_a_legacy_export_is_as_read_only_as_its_tensor() -> Result<()> {
        let source = Tensor::from_slice(&[1u8, 2], &[2])?.to_dlpack_versioned()?;
        // SAFETY: the export is owned here and moves into the import.
        let tensor = unsafe {
            (*source.as_ptr()).flags = DLPACK_FLAG_BITMASK_READ_ONLY;
            Tensor::from_dlpack_versioned(source.as_ptr(), 0, false)?
        };
        let again = round_trip(&tensor, DLPackForm::Legacy, false);
        assert_eq!(again.borrow_mut::<u8>().map(drop).unwrap_err().kind_bytes(), b"ValueError");
        Ok(())
    }

    #[test]
    fn the_last_export_of_an_import_may_end_on_another_thread() {
        let tensor = imported();
        let exported = Exported(tensor.to_dlpack_versioned().unwrap());
        drop(tensor);
        std::thread::spawn(move || drop(exported)).join().unwrap();
    }

    #[test]
    #[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
    fn threads_export_one_import_at_once() {
        let tensor = imported();
        std::thread::scope(|scope| {
            for thread in 1..=3 {
                let tensor = tensor.clone();
                scope.spawn(move || {
                    for round in 0..if cfg!(miri) { 20 } else { 2_000 } {
                        let exported = Exported(tensor.to_dlpack_versioned().unwrap());
                        let managed = exported.0.as_ptr();
                        // SAFETY: this thread owns the export until it is dropped.
                        unsafe {
                            assert_eq!((*managed).flags, 0);
                            (*managed).flags = thread << 32 | round;
                            std::thread::yield_now();
                            assert_eq!((*managed).flags, thread << 32 | round);
                        }
                    }
                });
            }
        });
        assert!(tensor.as_object().is_unique());
    }

    #[test]
    fn a_null_record_is_ignored() {
        // SAFETY: null is allowed.
        unsafe { delete_legacy_block(core::ptr::null_mut()) };
    }
}

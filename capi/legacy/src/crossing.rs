//! Arrays that cross between the legacy API and tvm-ffi: the few whose data type differs are passed
//! as views.
//!
//! An array's data type is part of its record, which both APIs share. An array of a type that is
//! described differently (see [`dtype`]) is therefore passed as a view with the other description.
//! When the view crosses back, it is replaced by its source, so that the array stays the same
//! object for either side.
//!
//! One code can mean two types, of which one is packed and the other is not. An array of a type of
//! earlier releases is therefore always a view: of its bytes, or of a tensor of tvm-ffi. Programs
//! that use both APIs may pass any tensor.

use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use ferrite_core::abi::{DLDataType, DLTensor, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::Tensor;

use super::dtype;

/// Views that are passed as borrowed arguments. They live as long as this list.
#[derive(Default)]
pub struct Views(Buffer<Tensor>);

impl Views {
    /// Creates an empty list.
    pub const fn new() -> Views {
        Views(Buffer::new())
    }

    /// Returns the tensor object to pass to tvm-ffi for an array. Null is returned unchanged.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// `array` must be null or a live tensor object.
    pub unsafe fn current(&mut self, array: *mut TVMFFIObject) -> Result<*mut TVMFFIObject> {
        // SAFETY: the caller guarantees a live tensor.
        unsafe { self.convert(array, to_current) }
    }

    /// Returns the tensor object to pass to the legacy API for a tensor.
    ///
    /// # Errors
    /// Errors of [`to_former`].
    ///
    /// # Safety
    /// `tensor` must be a live tensor object.
    pub unsafe fn former(&mut self, tensor: *mut TVMFFIObject) -> Result<*mut TVMFFIObject> {
        // SAFETY: the caller guarantees a live tensor.
        unsafe { self.convert(tensor, to_former) }
    }

    /// # Safety
    /// `tensor` must be null or a live tensor object.
    unsafe fn convert(
        &mut self,
        tensor: *mut TVMFFIObject,
        convert: fn(&Tensor) -> Result<Option<Tensor>>,
    ) -> Result<*mut TVMFFIObject> {
        let Some(object) = NonNull::new(tensor) else { return Ok(tensor) };
        // SAFETY: the caller guarantees a live tensor; this reference to it is never dropped.
        let borrowed = ManuallyDrop::new(unsafe {
            Tensor::from_object_unchecked(ObjectRef::from_raw(object))
        });
        let Some(view) = convert(&borrowed)? else { return Ok(tensor) };
        let address = view.as_object().as_ptr();
        self.0.try_push(view)?;
        Ok(address)
    }
}

/// Returns the tensor to pass to tvm-ffi in place of an array; `None` to pass the array itself.
///
/// # Errors
/// MemoryError.
pub fn to_current(array: &Tensor) -> Result<Option<Tensor>> {
    let former = array.dl_tensor().dtype;
    let current = dtype::of_elements(former);
    if current == former {
        return Ok(None);
    }
    match described_by(array) {
        // A tensor of tvm-ffi, whose code has another meaning for arrays.
        None => Ok(None),
        Some(source) if source.dl_tensor().dtype == dtype::storage_of(former) => {
            view(array, current).map(Some)
        }
        Some(source) => Ok(Some(source)),
    }
}

/// Returns the array to pass to the legacy API in place of a tensor; `None` to pass the tensor
/// itself.
///
/// # Errors
/// TypeError if the legacy API has no such data type; MemoryError.
pub fn to_former(tensor: &Tensor) -> Result<Option<Tensor>> {
    let current = tensor.dl_tensor().dtype;
    if tensor.view_source().is_some() {
        let is_source =
            |source: &DLDataType| *source != current && dtype::of_elements(*source) == current;
        if let Some(array) = source_of(tensor, is_source).filter(is_former) {
            return Ok(Some(array));
        }
        if is_former(tensor) {
            return Ok(None);
        }
    }
    let former = dtype::of_former_elements(current)?;
    if former == current { Ok(None) } else { view(tensor, former).map(Some) }
}

/// Returns a view of `storage` with the data type `former`, whose elements have the same size.
/// Returns `storage` itself if it has that type.
///
/// # Errors
/// MemoryError.
pub fn array_over(storage: Tensor, former: DLDataType) -> Result<Tensor> {
    if storage.dl_tensor().dtype == former { Ok(storage) } else { view(&storage, former) }
}

/// Returns `true` if an array has a former data type whose description differs from the current
/// one. Such an array is a view of its bytes, or of a tensor of tvm-ffi. A tensor of tvm-ffi itself
/// may have the same code with another meaning.
pub fn is_former(array: &Tensor) -> bool {
    described_by(array).is_some()
}

/// Returns the source tensor of an array that is a view with a former data type.
fn described_by(array: &Tensor) -> Option<Tensor> {
    let former = array.dl_tensor().dtype;
    source_of(array, |source| {
        let is_storage = *source == dtype::storage_of(former) && *source != former;
        is_storage
            || *source != former
                && dtype::of_former_elements(*source).is_ok_and(|seen| seen == former)
    })
}

/// Returns the data type by which to compute the size of an array in bytes.
///
/// # Safety
/// If elements have fewer than 8 bits, `array` must be the `DLTensor` of a tensor object, or the 24
/// bytes before it must be readable.
pub unsafe fn storage_type(array: &DLTensor) -> DLDataType {
    if array.dtype.bits >= 8 {
        return array.dtype;
    }
    let object = object_of(core::ptr::from_ref(array).cast_mut());
    // SAFETY: the caller guarantees an object or readable bytes; in an object, this reference to it
    // is never dropped.
    unsafe {
        if (*object).type_index != type_index::TENSOR {
            return array.dtype;
        }
        let object = ObjectRef::from_raw(NonNull::new_unchecked(object));
        let tensor = ManuallyDrop::new(Tensor::from_object_unchecked(object));
        if is_former(&tensor) { dtype::of_elements(array.dtype) } else { array.dtype }
    }
}

/// Returns the source of a view that describes the same elements, if the source's data type passes
/// a test.
fn source_of(tensor: &Tensor, is_source: impl FnOnce(&DLDataType) -> bool) -> Option<Tensor> {
    let source = tensor.view_source()?;
    let (one, other): (&DLTensor, &DLTensor) = (tensor.dl_tensor(), source.dl_tensor());
    let is_same = (one.data, one.byte_offset) == (other.data, other.byte_offset)
        && tensor.shape() == source.shape()
        && tensor.strides() == source.strides();
    (is_same && is_source(&other.dtype)).then(|| source.clone())
}

/// Creates a view of a whole tensor with another data type of the same size.
fn view(tensor: &Tensor, dtype: DLDataType) -> Result<Tensor> {
    let prototype = DLTensor { dtype, ..*tensor.dl_tensor() };
    // SAFETY: the view has the tensor's elements, and keeps it alive.
    unsafe { Tensor::from_owner(tensor.as_object(), &prototype) }
}

/// Returns the tensor object that contains an array's `DLTensor`; null for null.
pub(super) fn object_of(array: *mut DLTensor) -> *mut TVMFFIObject {
    if array.is_null() { ptr::null_mut() } else { array.cast::<TVMFFIObject>().wrapping_sub(1) }
}

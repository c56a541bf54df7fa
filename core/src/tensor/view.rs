//! The parameter type for functions that borrow a tensor without retaining it.

use core::ptr::NonNull;

use super::borrow::{Borrow, root_of};
use super::{Element, Elements, ElementsMut, Tensor, TensorRef, read_only};
use crate::abi::{DLTensor, type_index};
use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::convert::{Argument, Described, FromView, Param, TypeText};
use crate::{plain_bail, plain_ensure};

/// A borrowed tensor: a tensor object, or a DLTensor pointer. It is `Copy`, owns nothing, and does
/// not become an owned [`Any`](crate::Any).
///
/// As an argument, a tensor object stays an object, so the called function can check its borrow
/// state.
///
/// # Examples
/// ```
/// use ferrite_core::tensor::TensorView;
/// use ferrite_core::{Function, Result, Tensor};
///
/// fn sum(x: TensorView<'_>) -> Result<f64> {
///     Ok(x.as_slice::<f64>()?.iter().sum())
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from_slice(&[1.0f64, 2.0], &[2])?;
/// assert_eq!(Function::from_typed(sum)?.call::<f64>((TensorView::from(&x),))?, 3.0);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::TensorView` of `include/tvm/ffi/container/tensor.h`, and `DLTensor*`.
#[derive(Clone, Copy)]
pub struct TensorView<'a> {
    /// A tensor object or a DLTensor pointer, not null.
    value: AnyView<'a>,
}

impl<'a> TensorView<'a> {
    /// Creates a view of the DLTensor at an address.
    ///
    /// # Safety
    /// For `'a`, the DLTensor must meet the requirements of [`TensorRef::from_raw`], and nothing
    /// may write its elements while they are read through the view or a copy of it. It has no
    /// borrow state: functions that it is passed to trust the caller.
    pub unsafe fn new(tensor: NonNull<DLTensor>) -> TensorView<'a> {
        TensorView { value: AnyView::pointer(type_index::DL_TENSOR_PTR, tensor.as_ptr().cast()) }
    }

    /// Borrows the tensor in a value: a tensor object or a DLTensor pointer. Returns `None` for
    /// other values and null pointers.
    pub fn from_value(value: &AnyView<'a>) -> Option<TensorView<'a>> {
        TensorRef::from_view(value).map(|_| TensorView { value: *value })
    }

    /// Returns the pointer to the DLTensor.
    pub fn as_ptr(self) -> *mut DLTensor {
        self.as_tensor_ref().as_raw().cast_mut()
    }

    /// Returns a reference to the tensor object; `None` for a DLTensor pointer, which has no owner.
    pub fn to_owner(self) -> Option<Any> {
        self.value.object_ptr().and_then(|_| self.value.to_owned().ok())
    }

    /// Borrows the shape and the other properties of the tensor.
    pub fn as_tensor_ref(self) -> TensorRef<'a> {
        // SAFETY: the value is a tensor.
        unsafe { TensorRef::from_view(&self.value).unwrap_unchecked() }
    }

    /// Borrows the elements as a slice for reading. The elements of a DLTensor pointer have no
    /// borrow state: the caller that passed it must not change them until the call ends.
    ///
    /// # Errors
    /// Same errors as [`Tensor::as_slice`].
    pub fn as_slice<T: Element>(self) -> Result<Elements<'a, T>> {
        let elements = self.as_tensor_ref().elements()?;
        let borrow = self.borrow_elements(elements.1)?;
        // SAFETY: address and length were checked, and the borrow excludes writers; whoever made a
        // view of a pointer excludes them.
        Ok(unsafe { Elements::new(elements, borrow) })
    }

    /// Borrows the elements for code that reads or writes them by address, until the guard is
    /// dropped.
    ///
    /// # Errors
    /// RuntimeError while a borrow of the elements conflicts; ValueError for writes to a read-only
    /// tensor.
    pub fn guard<const WRITES: bool>(self) -> Result<Borrow<'a, WRITES>> {
        if WRITES {
            self.check_writable()?;
        }
        Borrow::new(self.value)
    }

    /// Borrows the elements for code that reads them by address, until the guard is dropped.
    ///
    /// # Errors
    /// RuntimeError while the elements are borrowed for writing.
    pub fn read_guard(self) -> Result<Borrow<'a, false>> {
        Borrow::new(self.value)
    }

    /// Borrows the elements for code that writes them by address, until the guard is dropped.
    ///
    /// # Errors
    /// RuntimeError while the elements are borrowed; ValueError for a read-only tensor.
    pub fn write_guard(self) -> Result<Borrow<'a, true>> {
        self.guard()
    }

    /// Checks that the producer of a tensor object allows writes to its elements. The caller that
    /// passes a DLTensor pointer allows them.
    ///
    /// # Errors
    /// ValueError for a read-only tensor: one imported from DLPack with that flag, or a view of it.
    pub fn check_writable(self) -> Result<()> {
        plain_ensure!(
            !read_only::is_read_only(self.value)?,
            VALUE_ERROR,
            "The tensor is read-only"
        );
        Ok(())
    }

    /// Borrows the elements for code that copies them to `target` by address, and the target's,
    /// until the guards are dropped. If both tensors share one owner, only the exclusive borrow is
    /// made, so parts of one memory can be copied to each other.
    ///
    /// # Errors
    /// RuntimeError while the target is borrowed, or these elements are borrowed for writing;
    /// ValueError for a read-only target.
    pub fn copy_guards<'b>(
        self,
        target: TensorView<'b>,
    ) -> Result<(Borrow<'a, false>, Borrow<'b, true>)> {
        let is_one = root_of(self.value).is_some_and(|root| root_of(target.value) == Some(root));
        let source = Borrow::new(if is_one { AnyView::NONE } else { self.value })?;
        Ok((source, target.write_guard()?))
    }

    /// Borrows `len` elements. An empty tensor needs no borrow.
    #[inline(always)]
    fn borrow_elements<const WRITES: bool>(self, len: usize) -> Result<Borrow<'a, WRITES>> {
        Borrow::new(if len == 0 { AnyView::NONE } else { self.value })
    }

    /// Borrows the elements as a slice for writing.
    ///
    /// # Errors
    /// Same errors as [`Tensor::borrow_mut`].
    ///
    /// # Safety
    /// If the view is of a DLTensor pointer, its caller must allow writes, and no other code may
    /// read or write the elements while the result is in use.
    pub unsafe fn as_mut_slice<T: Element>(self) -> Result<ElementsMut<'a, T>> {
        self.check_writable()?;
        let elements = self.as_tensor_ref().elements()?;
        let borrow = self.borrow_elements(elements.1)?;
        // SAFETY: address and length were checked; the borrow excludes other users of a tensor
        // object, the caller those of a pointer.
        Ok(unsafe { ElementsMut::new(elements, borrow) })
    }
}

impl core::fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("TensorView").field(&self.as_ptr()).finish()
    }
}

impl<'a> From<&'a Tensor> for TensorView<'a> {
    fn from(tensor: &'a Tensor) -> TensorView<'a> {
        TensorView { value: AnyView::from(tensor) }
    }
}

impl<'a> From<TensorView<'a>> for AnyView<'a> {
    fn from(tensor: TensorView<'a>) -> AnyView<'a> {
        tensor.value
    }
}

impl<'a> Argument for TensorView<'a> {
    type Held = AnyView<'a>;

    #[inline(always)]
    fn hold(self) -> Result<AnyView<'a>> {
        Ok(self.value)
    }

    #[inline(always)]
    fn view_of<'b>(held: &'b AnyView<'a>) -> AnyView<'b> {
        *held
    }
}

impl Described for TensorView<'_> {
    const TYPE: &'static TypeText = &TypeText::of("DLTensor*", "DLTensor*");

    fn accepts(view: &AnyView<'_>) -> bool {
        TensorRef::from_view(view).is_some()
    }
}

/// Accepts a DLTensor pointer or a tensor object. A null pointer is a ValueError.
impl<'a> FromView<'a> for TensorView<'a> {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<TensorView<'a>>> {
        let tensor = TensorView::from_value(view);
        if tensor.is_none() && view.type_index() == type_index::DL_TENSOR_PTR {
            plain_bail!(VALUE_ERROR, "A DLTensor pointer must not be null");
        }
        Ok(tensor)
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(Self::accepts(view))
    }
}

impl Param for TensorView<'_> {
    type In<'a> = TensorView<'a>;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<TensorView<'a>>> {
        TensorView::from_view(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_and_pointers_convert() {
        let tensor = Tensor::from_slice(&[1i32, 2], &[2]).unwrap();
        let value = AnyView::from(&tensor);
        let from_object = value.get_in_place::<TensorView<'_>>().unwrap();
        assert_eq!(from_object.as_ptr(), tensor.as_dl_tensor_ptr());
        assert_eq!(AnyView::from(from_object).type_index(), type_index::TENSOR);
        // SAFETY: `tensor` is alive, and nobody writes its elements.
        let pointer = AnyView::from(unsafe { TensorView::new(NonNull::from(tensor.dl_tensor())) });
        assert_eq!(pointer.type_index(), type_index::DL_TENSOR_PTR);
        let from_pointer = pointer.get_in_place::<TensorView<'_>>().unwrap();
        assert_eq!(from_pointer.as_slice::<i32>().unwrap(), [1, 2]);
    }

    #[test]
    fn other_values_do_not_convert() {
        assert!(TensorView::from_view(&AnyView::from(1i64)).unwrap().is_none());
        let null: AnyView<'_> = AnyView::pointer(type_index::DL_TENSOR_PTR, core::ptr::null_mut());
        assert_eq!(TensorView::from_view(&null).unwrap_err().kind_bytes(), b"ValueError");
    }

    #[test]
    #[cfg(not(feature = "client"))]
    fn read_only_tensors_are_not_borrowed_for_writing() -> Result<()> {
        let (made, other) =
            (Tensor::from_slice(&[1i32, 2], &[2])?, Tensor::from_slice(&[3i32, 4], &[2])?);
        let managed = made.to_dlpack_versioned()?.as_ptr();
        // SAFETY: the managed tensor is ours, and the import takes it over.
        let tensor = unsafe {
            (*managed).flags = crate::abi::DLPACK_FLAG_BITMASK_READ_ONLY;
            Tensor::from_dlpack_versioned(managed, 0, false)?
        };
        // SAFETY: the view has the elements of the tensor.
        let view_of_it = unsafe { tensor.create_unsafe_view(tensor.dl_tensor())? };
        for tensor in [&tensor, &view_of_it] {
            let view = TensorView::from(tensor);
            let refusals = [
                view.check_writable(),
                view.write_guard().map(drop),
                view.guard::<true>().map(drop),
                TensorView::from(&other).copy_guards(view).map(drop),
                // SAFETY: the view is of an object.
                unsafe { view.as_mut_slice::<i32>() }.map(drop),
                tensor.borrow_mut::<i32>().map(drop),
            ];
            for refusal in refusals {
                let error = refusal.unwrap_err();
                assert_eq!(
                    (error.kind_bytes(), error.message_bytes()),
                    (&b"ValueError"[..], &b"The tensor is read-only"[..])
                );
            }
            // Reading is fine.
            drop((view.read_guard()?, view.guard::<false>()?, view.copy_guards((&other).into())?));
            assert_eq!(view.as_slice::<i32>()?, [1, 2]);
        }
        Ok(())
    }

    #[test]
    fn slices_of_a_view_borrow_the_object() {
        let tensor = Tensor::from_slice(&[1i32, 2], &[2]).unwrap();
        let elements = TensorView::from(&tensor).as_slice::<i32>().unwrap();
        // SAFETY: it fails.
        assert!(unsafe { TensorView::from(&tensor).as_mut_slice::<i32>() }.is_err());
        drop(elements);
        // SAFETY: the library allows writes.
        unsafe { TensorView::from(&tensor).as_mut_slice::<i32>() }.unwrap()[0] = 7;
        assert_eq!(tensor.as_slice::<i32>().unwrap(), [7, 2]);
    }
}

//! Arrays of the crate `ndarray`: tensors over their elements, and views of tensors, both without a
//! copy.

use core::fmt;
use core::ops::Deref;
use core::ptr::{self, NonNull};

use ndarray::{
    Array, ArrayRef, ArrayView, ArrayViewMut, Axis, Dimension, LayoutRef, RawArrayView,
    ShapeBuilder as _,
};

use crate::abi::{DLDevice, DLTensor};
use crate::error::{Error, Result};
use crate::plain_ensure;
use crate::platform::memory::Buffer;
use crate::tensor::{self, Borrow, Element, Tensor, TensorRef};
use crate::value::any::{Any, AnyView};
use crate::value::callee::{Call, TensorUse};
use crate::value::convert::{
    AnyCompatible, Argument, ArgumentPlace, Described, FromView, IntoAny, Param, TypeText,
};
use crate::value::device;

/// Creates a tensor in main memory over the elements of the array, which stay where they are, with
/// the strides that they have. A view is copied first: `view.to_owned()`.
///
/// # Examples
/// ```
/// use ferrite_core::Tensor;
/// use ndarray::{Ix2, array};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let tensor = Tensor::try_from(array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]].reversed_axes())?;
/// assert_eq!((tensor.shape(), tensor.strides()), (&[3, 2][..], Some(&[1, 3][..])));
/// assert_eq!(tensor.as_ndarray::<f32, Ix2>()?[[2, 1]], 6.0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// MemoryError. On failure the array is dropped.
impl<T: Element, D: Dimension> TryFrom<Array<T, D>> for Tensor {
    type Error = Error;

    fn try_from(array: Array<T, D>) -> Result<Tensor> {
        let mut shape = list(array.shape(), |extent| *extent as i64)?;
        let mut strides = list(array.strides(), |stride| *stride as i64)?;
        let is_compact = array.is_standard_layout();
        let (mut elements, offset) = array.into_raw_vec_and_offset();
        let prototype = DLTensor {
            data: elements.as_mut_ptr().wrapping_add(offset.unwrap_or(0)).cast(),
            device: DLDevice { device_type: device::kind::CPU, device_id: 0 },
            ndim: i32::try_from(shape.len()).unwrap_or(i32::MAX),
            dtype: T::DTYPE,
            shape: shape.as_mut_ptr(),
            strides: if is_compact { ptr::null_mut() } else { strides.as_mut_ptr() },
            byte_offset: 0,
        };
        let owner = tensor::owner_of(elements)?;
        // SAFETY: both lists have `ndim` numbers; the elements live where they are as long as
        // `owner`.
        unsafe { Tensor::from_owner(&owner, &prototype) }
    }
}

fn list<T>(numbers: &[T], convert: impl Fn(&T) -> i64) -> Result<Buffer<i64>> {
    let mut out = Buffer::try_with_capacity(numbers.len())?;
    for number in numbers {
        out.try_push(convert(number))?;
    }
    Ok(out)
}

impl Tensor {
    /// Borrows the elements of a tensor in host-accessible memory as an array of any strides, until
    /// the guard is dropped. `D` is the number of dimensions, such as `Ix2`, or `IxDyn` for any.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    /// use ndarray::{Ix1, Ix2, IxDyn};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    /// assert_eq!(tensor.as_ndarray::<f32, Ix2>()?.column(2).sum(), 9.0);
    /// assert_eq!(tensor.as_ndarray::<f32, IxDyn>()?.ndim(), 2);
    /// let error = tensor.as_ndarray::<f32, Ix1>().unwrap_err();
    /// assert_eq!(error.to_string(), "ValueError: expected a tensor of 1 dimensions but got 2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`TensorRef::as_ndarray`]. RuntimeError while the elements are borrowed for
    /// writing.
    pub fn as_ndarray<T: Element, D: Dimension>(&self) -> Result<ElementArray<'_, T, D>> {
        ElementArray::new(AnyView::from(self), self.as_tensor_ref())
    }

    /// Borrows the elements as an array for writing; see [`TensorRef::as_ndarray_mut`].
    ///
    /// # Errors
    /// The errors of [`TensorRef::as_ndarray_mut`].
    ///
    /// # Safety
    /// No one else may read or write the elements while the result is in use, and the producer must
    /// allow writes.
    pub unsafe fn as_ndarray_mut<T: Element, D: Dimension>(
        &self,
    ) -> Result<ArrayViewMut<'_, T, D>> {
        // SAFETY: the caller's promise.
        unsafe { self.as_tensor_ref().as_ndarray_mut() }
    }
}

impl<'a> TensorRef<'a> {
    /// Borrows the elements of a tensor in host-accessible memory as an array of any strides.
    /// [`Tensor::as_ndarray`] is safe: it borrows the tensor.
    ///
    /// # Errors
    /// TypeError if the dtype is not that of `T`. ValueError if the number of dimensions is not
    /// that of `D`, if the device is not host-accessible, or if the elements have no data, exceed
    /// the address space or are not aligned for `T`.
    ///
    /// # Safety
    /// No other code may write the elements while the result is in use.
    pub unsafe fn as_ndarray<T: Element, D: Dimension>(self) -> Result<ArrayView<'a, T, D>> {
        self.check_host_elements::<T>()?;
        let (shape, mut strides) = (self.extents::<D>()?, D::zeros(self.ndim()));
        let mut start: *const T = NonNull::dangling().as_ptr();
        if shape.slice().contains(&0) {
            // Nothing is read.
        } else {
            start = self.first_element::<T>()?;
            let mut span = 0usize;
            let mut compact = 1i64;
            for axis in (0..self.ndim()).rev() {
                let stride = self.strides().map_or(compact, |strides| strides[axis]);
                compact = compact.wrapping_mul(self.shape()[axis]);
                if shape[axis] == 1 {
                    continue; // its stride may be any number
                }
                strides[axis] = usize::try_from(stride.unsigned_abs()).unwrap_or(usize::MAX);
                let reach = strides[axis].checked_mul(shape[axis] - 1);
                let Some(reach) =
                    reach.filter(|reach| *reach <= isize::MAX as usize / size_of::<T>())
                else {
                    return Err(too_large());
                };
                span = span.saturating_add(reach);
                if stride < 0 {
                    start = start.wrapping_sub(reach);
                }
            }
            if span > isize::MAX as usize / size_of::<T>() {
                return Err(too_large());
            }
        }
        // SAFETY: the elements are in memory, as the creator of the tensor guarantees, from
        // `start`, the lowest address, over a span that does not overflow; they live for `'a`, and
        // the caller guarantees that they are not written.
        let mut view = unsafe {
            RawArrayView::from_shape_ptr(shape.strides(strides), start).deref_into_view()
        };
        for (axis, stride) in self.strides().unwrap_or_default().iter().enumerate() {
            if *stride < 0 && !view.is_empty() {
                let layout: &mut LayoutRef<T, D> = view.as_mut();
                layout.invert_axis(Axis(axis));
            }
        }
        Ok(view)
    }

    /// Borrows the elements of a contiguous tensor in host-accessible memory as an array for
    /// writing.
    ///
    /// # Errors
    /// The errors of [`as_ndarray`](Self::as_ndarray), and ValueError if the elements are not
    /// contiguous.
    ///
    /// # Safety
    /// No one else may read or write the elements while the result is in use, and the producer must
    /// allow writes.
    pub unsafe fn as_ndarray_mut<T: Element, D: Dimension>(self) -> Result<ArrayViewMut<'a, T, D>> {
        let shape = self.extents::<D>()?;
        // SAFETY: the caller's promise.
        let elements = unsafe { self.as_mut_slice::<T>() }?;
        ArrayViewMut::from_shape(shape, elements).map_err(|_| too_large())
    }

    /// Returns the shape as a type of the crate `ndarray`.
    fn extents<D: Dimension>(self) -> Result<D> {
        let ndim = self.ndim();
        let expected = D::NDIM.unwrap_or(ndim);
        let fits = ndim == expected && ndim == self.shape().len();
        plain_ensure!(
            fits,
            VALUE_ERROR,
            "expected a tensor of {} dimensions but got {}",
            expected,
            ndim
        );
        let mut extents = D::zeros(ndim);
        let mut product = 1usize;
        for (axis, extent) in self.shape().iter().enumerate() {
            extents[axis] = usize::try_from(*extent).unwrap_or(usize::MAX);
            product = product.saturating_mul(extents[axis].max(1));
        }
        plain_ensure!(product <= isize::MAX as usize, VALUE_ERROR, "the tensor has more elements than memory can hold"; "bad shape");
        Ok(extents)
    }
}

#[cold]
fn too_large() -> Error {
    crate::plain_error!(VALUE_ERROR, "the tensor has more elements than memory can hold"; "bad shape")
}

/// The elements of a tensor as an array, borrowed for reading. While it lives, functions that would
/// write the elements raise a RuntimeError.
///
/// # Examples
/// See [`Tensor::as_ndarray`].
pub struct ElementArray<'a, T, D> {
    view: ArrayView<'a, T, D>,
    #[allow(dead_code, reason = "its destructor ends the borrow")]
    borrow: Borrow<'a, false>,
}

impl<'a, T: Element, D: Dimension> ElementArray<'a, T, D> {
    fn new(value: AnyView<'a>, tensor: TensorRef<'a>) -> Result<Self> {
        let borrow = Borrow::new(value)?;
        // SAFETY: the borrow excludes writers of a tensor object; a caller in C that passes a
        // DLTensor pointer excludes them.
        Ok(ElementArray { view: unsafe { tensor.as_ndarray() }?, borrow })
    }
}

impl<T, D> Deref for ElementArray<'_, T, D> {
    type Target = ArrayRef<T, D>;

    fn deref(&self) -> &ArrayRef<T, D> {
        &self.view
    }
}

impl<T: fmt::Debug, D: Dimension> fmt::Debug for ElementArray<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}

impl<T: fmt::Display, D: Dimension> fmt::Display for ElementArray<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}

impl<T, U, D, R> PartialEq<R> for ElementArray<'_, T, D>
where
    T: PartialEq<U>,
    D: Dimension,
    R: Deref<Target = ArrayRef<U, D>>,
{
    fn eq(&self, other: &R) -> bool {
        **self == **other
    }
}

/// Converts the array to a tensor for the call.
impl<T: Element, D: Dimension> Argument for Array<T, D> {
    type Held = Any;

    fn hold(self) -> Result<Any> {
        self.try_into_any()
    }

    fn view_of(held: &Any) -> AnyView<'_> {
        held.view()
    }
}

/// A parameter that borrows the elements of a tensor until the function returns; the rules are
/// those of [`Tensor::as_ndarray`].
///
/// # Examples
/// ```
/// use ferrite_core::{Function, Tensor};
/// use ndarray::{Array1, ArrayView2, Axis, array};
///
/// fn sum_of_rows(x: ArrayView2<'_, f64>) -> Array1<f64> {
///     x.sum_axis(Axis(1))
/// }
///
/// # fn main() -> ferrite_core::Result<()> {
/// let sums: Tensor = Function::from_typed(sum_of_rows)?.call((array![[1.0, 2.0], [3.0, 4.0]],))?;
/// assert_eq!(sums.as_slice::<f64>()?, [3.0, 7.0]);
/// # Ok(())
/// # }
/// ```
impl<T: Element, D: Dimension> Param for ArrayView<'_, T, D> {
    type In<'a> = ArrayView<'a, T, D>;

    const TENSOR_USE: TensorUse = TensorUse::Read;

    /// Returns `None`: the elements are those of an argument of a call.
    fn param<'a>(_: &'a AnyView<'a>) -> Result<Option<ArrayView<'a, T, D>>> {
        Ok(None)
    }

    fn argument<'a>(call: &'a Call<'a>, place: ArgumentPlace) -> Result<ArrayView<'a, T, D>> {
        let index = place.used_for(call, TensorUse::Read)?;
        match call.args.get(index).and_then(TensorRef::from_view) {
            // SAFETY: the call has borrowed the elements.
            Some(tensor) => unsafe { tensor.as_ndarray() },
            None => call.convert::<ArrayView<'_, T, D>>(index),
        }
    }
}

impl<T: Element, D: Dimension> Described for ArrayView<'_, T, D> {
    const TYPE: &'static TypeText = Tensor::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        TensorRef::from_view(view).is_some()
    }
}

/// A copy of the elements of a tensor.
impl<T: Element, D: Dimension> Described for Array<T, D> {
    const TYPE: &'static TypeText = Tensor::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        TensorRef::from_view(view).is_some()
    }
}

impl<'a, T: Element, D: Dimension> FromView<'a> for Array<T, D> {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
        let Some(tensor) = TensorRef::from_view(view) else { return Ok(None) };
        Ok(Some(ElementArray::new(*view, tensor)?.to_owned()))
    }

    fn is_exact(_: &'a AnyView<'a>) -> Result<bool> {
        Ok(false)
    }
}

impl<T: Element, D: Dimension> Param for Array<T, D> {
    type In<'a> = Array<T, D>;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<Array<T, D>>> {
        Array::from_view(view)
    }
}

impl<T: Element, D: Dimension> IntoAny for Array<T, D> {
    fn try_into_any(self) -> Result<Any> {
        Tensor::try_from(self).map(Any::from)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::Function;
    use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Ix0, Ix1, Ix2, Ix3, IxDyn, array, s};
    use std::string::{String, ToString};
    use std::vec;

    fn text<T>(outcome: Result<T>) -> String {
        outcome.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn arrays_of_any_layout_become_tensors_and_views_of_the_same_memory() -> Result<()> {
        let base =
            Array::from_shape_vec((2, 3), vec![1i32, 2, 3, 4, 5, 6]).expect("the shape fits");
        let mut mirrored = base.clone();
        mirrored.invert_axis(Axis(1));
        for array in [
            base.clone(),
            base.clone().reversed_axes(),
            base.clone().slice_move(s![1.., ..;2]),
            mirrored,
            Array2::zeros((3, 0)),
            Array2::ones((1, 1)),
        ] {
            let (expected, address) = (array.clone(), array.as_ptr());
            let tensor = Tensor::try_from(array)?;
            let view = tensor.as_ndarray::<i32, Ix2>()?;
            assert_eq!(view, expected);
            assert!(view.is_empty() || view.as_ptr() == address);
            assert_eq!(tensor.as_ndarray::<i32, IxDyn>()?, expected.into_dyn());
        }
        let scalar = Tensor::try_from(ndarray::arr0(7.5f64))?;
        assert_eq!(scalar.as_ndarray::<f64, Ix0>()?[()], 7.5);
        Ok(())
    }

    #[test]
    fn what_a_view_cannot_show_is_refused() -> Result<()> {
        let tensor = Tensor::from_slice(&[1.0f32; 6], &[2, 3])?;
        assert_eq!(
            text(tensor.as_ndarray::<i32, Ix2>()),
            "TypeError: expected a tensor of dtype `int32` but got `float32`"
        );
        assert_eq!(
            text(tensor.as_ndarray::<f32, Ix3>()),
            "ValueError: expected a tensor of 3 dimensions but got 2"
        );
        let refusal = |tensor: DLTensor| {
            // SAFETY: all defects are found before elements are read.
            text(unsafe { TensorRef::from_raw(&raw const tensor).as_ndarray::<f32, Ix2>() })
        };
        let good = *tensor.dl_tensor();
        let cuda = DLDevice { device_type: device::kind::CUDA, device_id: 0 };
        assert_eq!(
            refusal(DLTensor { device: cuda, ..good }),
            "ValueError: the data of this tensor is not in main memory"
        );
        assert_eq!(
            refusal(DLTensor { byte_offset: 2, ..good }),
            "ValueError: the data of the tensor is not aligned for its elements"
        );
        assert_eq!(
            refusal(DLTensor { data: ptr::null_mut(), ..good }),
            "ValueError: the tensor has no data"
        );
        let too_large = "ValueError: the tensor has more elements than memory can hold";
        let (mut shape, mut strides) = ([i64::MAX, i64::MAX], [i64::MIN, 1]);
        assert_eq!(refusal(DLTensor { shape: shape.as_mut_ptr(), ..good }), too_large);
        assert_eq!(refusal(DLTensor { strides: strides.as_mut_ptr(), ..good }), too_large);
        shape = [-1, 1];
        assert_eq!(refusal(DLTensor { shape: shape.as_mut_ptr(), ..good }), too_large);
        Ok(())
    }

    #[test]
    fn strides_may_be_any_numbers() -> Result<()> {
        let row = Tensor::from_slice(&[1i64, 2, 3], &[3])?;
        let (mut shape, mut strides) = ([2, 3], [0, 1]);
        let (shape, strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
        let rows = DLTensor { ndim: 2, shape, strides, ..*row.dl_tensor() };
        // SAFETY: the lists and the data outlive the view.
        let rows = unsafe { TensorRef::from_raw(&raw const rows) };
        // SAFETY: nobody writes the elements.
        assert_eq!(unsafe { rows.as_ndarray::<i64, Ix2>() }?, array![[1, 2, 3], [1, 2, 3]]);
        let (mut shape, mut strides) = ([1, 3], [i64::MIN, -1]);
        let mirrored = DLTensor {
            byte_offset: 16,
            ndim: 2,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            ..*row.dl_tensor()
        };
        // SAFETY: as above.
        let mirrored = unsafe { TensorRef::from_raw(&raw const mirrored) };
        // SAFETY: as above.
        assert_eq!(unsafe { mirrored.as_ndarray::<i64, Ix2>() }?, array![[3, 2, 1]]);
        // SAFETY: it fails.
        let refused = unsafe { rows.as_ndarray_mut::<i64, Ix2>() };
        assert_eq!(text(refused), "ValueError: the tensor is not contiguous");
        Ok(())
    }

    #[test]
    fn elements_are_written_in_place() -> Result<()> {
        let tensor = Tensor::from_slice(&[0u8; 4], &[2, 2])?;
        // SAFETY: nobody else uses the tensor.
        unsafe { tensor.as_ndarray_mut::<u8, Ix2>() }?[[1, 0]] = 9;
        assert_eq!(tensor.as_slice::<u8>()?, [0, 0, 9, 0]);
        // SAFETY: it fails.
        assert!(unsafe { tensor.as_ndarray_mut::<u8, Ix1>() }.is_err());
        Ok(())
    }

    #[test]
    fn arrays_are_arguments_and_results() -> Result<()> {
        let product =
            Function::from_typed(|a: ArrayView2<'_, f32>, x: ArrayView1<'_, f32>| a.dot(&x))?;
        let a = array![[1.0f32, 2.0], [3.0, 4.0]];
        let result: Array1<f32> =
            product.call((a.clone(), &Tensor::from_slice(&[1.0f32, 1.0], &[2])?))?;
        assert_eq!(result, array![3.0, 7.0]);
        let twice = Function::from_typed(|x: Array1<f32>| x * 2.0)?;
        assert_eq!(twice.call::<Tensor>((result,))?.as_slice::<f32>()?, [6.0, 14.0]);
        assert_eq!(
            text(twice.call::<Tensor>((1,))),
            "TypeError: Mismatched type on argument #0 when calling: `(0: ffi.Tensor) -> ffi.Tensor`. Expected `ffi.Tensor` but got `int`"
        );
        assert_eq!(
            text(twice.call::<Tensor>((a,))),
            "ValueError: expected a tensor of 1 dimensions but got 2"
        );
        Ok(())
    }
}

//! Checks of tensor arguments, chained in one expression.

use core::fmt;
use core::ops::Deref;

use super::{Element, Elements, Tensor, TensorRef};
use crate::error::{Error, Result};
use crate::plain_error;
use crate::platform::text::Writer;
use crate::value::callee::Call;
use crate::value::device::{self, kind};
use crate::value::dtype;
use crate::value::string::String;

/// Checks of one tensor, each of which returns the checks again or the first error.
///
/// # Examples
/// ```
/// use ferrite_core::value::device::kind;
/// use ferrite_core::{Result, Tensor};
///
/// fn mean_of_rows(x: &Tensor, out: &Tensor) -> Result<()> {
///     let rows = x.check("x").dtype::<f32>()?.ndim(2)?.device_type(kind::CPU)?.contiguous()?.extent(0);
///     out.check("out").dtype::<f32>()?.shape(&[rows])?;
///     Ok(())
/// }
///
/// # fn main() -> Result<()> {
/// let (x, out) = (Tensor::from_slice(&[1.0f32; 6], &[2, 3])?, Tensor::from_slice(&[0.0f32; 3], &[3])?);
/// let error = mean_of_rows(&x, &out).unwrap_err();
/// assert_eq!(error.to_string(), "ValueError: Invalid out.shape[0], expected 2");
/// # Ok(())
/// # }
/// ```
///
/// Messages about an argument, an [`Input`](super::Input) or an [`Output`](super::Output), also
/// have its number, the signature of the function, and the actual value.
///
/// # Upstream
/// The checks in code that TVM generates. `ferrite/kernel.h` has the same checks for C, with the
/// same messages.
///
/// `S` determines how the elements are borrowed: checks of an argument lend plain slices, those of
/// a [`Tensor`] lend guards, and those of a [`TensorRef`] lend none.
#[derive(Clone, Copy)]
pub struct TensorCheck<'a, S = ()> {
    tensor: TensorRef<'a>,
    place: TensorName<'a>,
    source: S,
}

/// Source of the elements of a checked tensor.
pub trait ElementSource<'a>: Copy {
    /// A slice, or the guard of one.
    type Elements<T: Element>: Deref<Target = [T]>;

    /// Borrows the elements of the tensor that is checked.
    ///
    /// # Errors
    /// Same errors as [`Tensor::as_slice`].
    #[doc(hidden)]
    fn lend<T: Element>(check: TensorCheck<'a, Self>) -> Result<Self::Elements<T>>;
}

impl<'a> ElementSource<'a> for &'a Tensor {
    type Elements<T: Element> = Elements<'a, T>;

    fn lend<T: Element>(check: TensorCheck<'a, Self>) -> Result<Elements<'a, T>> {
        check.source.as_slice()
    }
}

/// Marker of checks of an argument, whose elements the call has borrowed.
#[derive(Clone, Copy)]
pub struct Argument(());

impl<'a> ElementSource<'a> for Argument {
    type Elements<T: Element> = &'a [T];

    fn lend<T: Element>(check: TensorCheck<'a, Self>) -> Result<&'a [T]> {
        // SAFETY: the call has borrowed the elements; checks of an output borrow it, so that it
        // does not lend them for writing.
        unsafe { check.tensor.as_slice() }
    }
}

/// Name of a tensor in messages.
#[derive(Clone, Copy)]
enum TensorName<'a> {
    Named(&'a str),
    /// Named by its index among the arguments of a call.
    Argument(&'a Call<'a>, usize),
}

impl<'a> TensorRef<'a> {
    /// Begins checks of the tensor. Messages call it `name`.
    pub fn check(self, name: &'a str) -> TensorCheck<'a> {
        TensorCheck { tensor: self, place: TensorName::Named(name), source: () }
    }

    /// Begins checks of the tensor as an argument.
    ///
    /// # Safety
    /// For `'a`, no other code may write the elements.
    pub(super) unsafe fn check_argument(
        self,
        call: &'a Call<'a>,
        index: usize,
    ) -> TensorCheck<'a, Argument> {
        TensorCheck { tensor: self, place: TensorName::Argument(call, index), source: Argument(()) }
    }
}

impl Tensor {
    /// Begins checks of the tensor. Messages call it `name`.
    pub fn check<'a>(&'a self, name: &'a str) -> TensorCheck<'a, &'a Tensor> {
        TensorCheck { tensor: self.as_tensor_ref(), place: TensorName::Named(name), source: self }
    }
}

impl<'a, S: Copy> TensorCheck<'a, S> {
    /// Checks the number of dimensions.
    ///
    /// # Errors
    /// ValueError.
    #[inline(never)]
    pub fn ndim(self, ndim: usize) -> Result<Self> {
        let actual = self.tensor.ndim();
        self.pass(
            actual == ndim,
            || plain_error!(VALUE_ERROR, "Mismatched {}.ndim, expected {}", self.name(), ndim),
            |out| got_number(out, actual as i64),
        )
    }

    /// Checks the type of the elements.
    ///
    /// # Errors
    /// TypeError.
    pub fn dtype<T: Element>(self) -> Result<Self> {
        let actual = self.tensor.dtype();
        self.pass(
            actual == T::DTYPE,
            || match dtype::to_string(T::DTYPE) {
                Ok(expected) => {
                    plain_error!(
                        TYPE_ERROR,
                        "Mismatched {}.dtype, expected {}",
                        self.name(),
                        &expected
                    )
                }
                Err(error) => error,
            },
            |out| {
                if let Ok(actual) = dtype::to_string(actual) {
                    got_text(out, actual.as_bytes());
                }
            },
        )
    }

    /// Checks all extents, and with them the number of dimensions.
    ///
    /// # Errors
    /// ValueError.
    pub fn shape(self, shape: &[i64]) -> Result<Self> {
        let mut checked = self.ndim(shape.len())?;
        for (axis, extent) in shape.iter().enumerate() {
            checked = checked.dim(axis, *extent)?;
        }
        Ok(checked)
    }

    /// Checks the extent of an axis.
    ///
    /// # Errors
    /// ValueError, also if there is no such axis.
    #[inline(never)]
    pub fn dim(self, axis: usize, extent: i64) -> Result<Self> {
        self.pass(
            self.tensor.shape().get(axis) == Some(&extent),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Invalid {}.shape[{}], expected {}",
                    self.name(),
                    axis,
                    &extent
                )
            },
            |out| got_number(out, self.extent(axis)),
        )
    }

    /// Checks that an axis has the extent of an axis of another tensor.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let (x, bias) = (Tensor::from_slice(&[0u8; 6], &[2, 3])?, Tensor::from_slice(&[0u8; 2], &[2])?);
    /// let error = bias.check("bias").same_extent(0, x.check("x"), 1).map(drop).unwrap_err();
    /// assert_eq!(error.message(), "Mismatched bias.shape[0], expected to match x.shape[1]");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError, also if there is no such axis.
    #[inline(never)]
    pub fn same_extent(
        self,
        axis: usize,
        other: TensorCheck<'_, impl Copy>,
        other_axis: usize,
    ) -> Result<Self> {
        let extent = self.tensor.shape().get(axis);
        self.pass(
            extent.is_some() && extent == other.tensor.shape().get(other_axis),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Mismatched {}.shape[{}], expected to match {}.shape[{}]",
                    self.name(),
                    axis,
                    other.name(),
                    other_axis
                )
            },
            |out| {
                out.put(b" = ");
                out.put_number(other.extent(other_axis));
                got_number(out, self.extent(axis));
            },
        )
    }

    /// Checks the number of dimensions, and returns the extents.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[0u8; 6], &[2, 3])?;
    /// let [rows, columns] = x.check("x").extents()?;
    /// assert_eq!((rows, columns), (2, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError, also for a negative extent.
    #[inline(never)]
    pub fn extents<const N: usize>(self) -> Result<[usize; N]> {
        self.ndim(N)?;
        let mut extents = [0; N];
        for (axis, extent) in extents.iter_mut().enumerate() {
            let actual = usize::try_from(self.extent(axis));
            self.pass(
                actual.is_ok(),
                || {
                    plain_error!(
                        VALUE_ERROR,
                        "Invalid {}.shape[{}], expected 0 or more",
                        self.name(),
                        axis
                    )
                },
                |out| got_number(out, self.extent(axis)),
            )?;
            *extent = actual.unwrap_or(0);
        }
        Ok(extents)
    }

    /// Checks the stride of an axis, in elements. A tensor without strides has those of a compact
    /// one.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[0u8; 6], &[2, 3])?;
    /// x.check("x").stride(0, 3)?.stride(1, 1)?;
    /// assert_eq!(x.check("x").stride(0, 4).map(drop).unwrap_err().message(), "Invalid x.strides[0], expected 4");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError, also if there is no such axis.
    pub fn stride(self, axis: usize, stride: i64) -> Result<Self> {
        let compact = |inner: &[i64]| {
            inner.iter().fold(1i64, |product, extent| product.wrapping_mul(*extent))
        };
        let actual = match self.tensor.strides() {
            Some(strides) => strides.get(axis).copied(),
            None => self
                .tensor
                .shape()
                .get(axis..)
                .and_then(|rest| rest.split_first())
                .map(|(_, inner)| compact(inner)),
        };
        self.pass(
            actual == Some(stride),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Invalid {}.strides[{}], expected {}",
                    self.name(),
                    axis,
                    &stride
                )
            },
            |out| got_number(out, actual.unwrap_or(0)),
        )
    }

    /// Checks that the elements are contiguous in row-major order.
    ///
    /// # Errors
    /// ValueError.
    pub fn contiguous(self) -> Result<Self> {
        self.pass(
            self.tensor.is_contiguous(),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Mismatched {}.strides, expected to be compact array",
                    self.name()
                )
            },
            |out| self.put_wrong_stride(out),
        )
    }

    /// Checks the type of the device, one of [`device::kind`].
    ///
    /// # Errors
    /// ValueError.
    pub fn device_type(self, device_type: i32) -> Result<Self> {
        let actual = self.tensor.device().device_type;
        let name_of = |device_type| device::type_name(device_type).unwrap_or("unknown");
        self.pass(
            actual == device_type,
            || {
                let expected = name_of(device_type);
                plain_error!(
                    VALUE_ERROR,
                    "Mismatched {}.device_type, expected {}",
                    self.name(),
                    expected
                )
            },
            |out| got_text(out, name_of(actual).as_bytes()),
        )
    }

    /// Checks that two tensors are on the same device.
    ///
    /// # Errors
    /// ValueError.
    pub fn same_device(self, other: TensorCheck<'_, impl Copy>) -> Result<Self> {
        self.pass(
            self.tensor.device() == other.tensor.device(),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Mismatched {}.device, expected to match {}.device",
                    self.name(),
                    other.name()
                )
            },
            |_| {},
        )
    }

    /// Checks all extents.
    pub(super) fn extents_are(self, shape: &[usize]) -> Result<Self> {
        let mut checked = self.ndim(shape.len())?;
        for (axis, extent) in shape.iter().enumerate() {
            checked = checked.dim(axis, *extent as i64)?;
        }
        Ok(checked)
    }

    /// Returns `true` if the device is the CPU.
    pub(super) fn is_on_host(self) -> bool {
        self.tensor.device().device_type == kind::CPU
    }

    /// Repeats the checks of a slice one by one, for a specific error message.
    #[cold]
    pub(super) fn explained<T: Element>(self) -> Result<Self> {
        let checked = self.dtype::<T>()?.device_type(kind::CPU)?.contiguous()?;
        if self.tensor.shape().contains(&0) {
            return Ok(checked);
        }
        let checked = checked.pass(
            !self.tensor.data_ptr().is_null(),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "{} data pointer is NULL, expected non-NULL data pointer",
                    self.name()
                )
            },
            |_| {},
        )?;
        let alignment = align_of::<T>() as u64;
        checked.pass(
            self.tensor.is_aligned(alignment),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Misaligned {}.data, expected data alignment={} bytes",
                    self.name(),
                    alignment as usize
                )
            },
            |out| {
                got_text(out, b"an address with remainder ");
                out.put_unsigned(self.tensor.start() % alignment);
            },
        )
    }

    /// Writes the innermost stride that differs from that of a compact tensor.
    fn put_wrong_stride(self, out: &mut Writer<'_>) {
        let mut compact = 1i64;
        let extents = self.tensor.shape().iter().zip(self.tensor.strides().unwrap_or_default());
        for (axis, (extent, stride)) in extents.enumerate().rev() {
            if *extent != 1 && *stride != compact {
                got_text(out, b"stride[");
                out.put_unsigned(axis as u64);
                out.put(b"] = ");
                return out.put_number(*stride);
            }
            compact = compact.wrapping_mul(*extent);
        }
    }

    /// Returns the extent of an axis, or 0 if there is no such axis.
    pub fn extent(self, axis: usize) -> i64 {
        self.tensor.shape().get(axis).copied().unwrap_or(0)
    }

    /// Returns the name of the tensor.
    pub fn name(self) -> &'a str {
        match self.place {
            TensorName::Argument(call, index) => call.callee.name_of(index),
            TensorName::Named(name) => name,
        }
    }

    /// Returns the tensor.
    pub fn tensor(self) -> TensorRef<'a> {
        self.tensor
    }

    /// Checks a custom condition: `what` of the tensor must be as `expected`.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[0u8; 3], &[3])?;
    /// let error = x.check("x").ensure(x.shape()[0] % 2 == 0, "shape[0]", format_args!("an even number")).map(drop);
    /// assert_eq!(error.unwrap_err().message(), "Invalid x.shape[0], expected an even number");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError if the condition does not hold.
    #[inline(never)]
    pub fn ensure(self, condition: bool, what: &str, expected: fmt::Arguments<'_>) -> Result<Self> {
        let error = || match String::format(expected) {
            Ok(expected) => {
                plain_error!(
                    VALUE_ERROR,
                    "Invalid {}.{}, expected {}",
                    self.name(),
                    what,
                    &expected
                )
            }
            Err(error) => error,
        };
        self.pass(condition, error, |_| {})
    }

    /// Returns the checks again if the condition holds. Otherwise returns the error, extended by
    /// the index of the argument and the output of `got`.
    #[inline(always)]
    pub(super) fn pass(
        self,
        condition: bool,
        error: impl FnOnce() -> Error,
        got: impl Fn(&mut Writer<'_>),
    ) -> Result<Self> {
        if condition { Ok(self) } else { Err(self.refusal(error(), &got)) }
    }

    #[cold]
    fn refusal(self, error: Error, got: &dyn Fn(&mut Writer<'_>)) -> Error {
        match self.place {
            TensorName::Argument(call, index) => call.callee.refused_argument(index, &error, got),
            TensorName::Named(_) => error,
        }
    }
}

impl<'a, S: ElementSource<'a>> TensorCheck<'a, S> {
    /// Checks all that a slice of the elements needs, and borrows them: the type, main memory,
    /// row-major order, and data that is aligned for `T`.
    ///
    /// # Errors
    /// TypeError for elements of another type, and ValueError.
    #[inline(never)]
    pub fn as_slice<T: Element>(self) -> Result<S::Elements<T>> {
        match S::lend(self) {
            Ok(elements) if self.is_on_host() => Ok(elements),
            other => self.explained::<T>().and(other),
        }
    }

    /// Checks the number of dimensions and all that a slice of the elements needs, and returns the
    /// extents and the elements.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[1u8, 2, 3, 4, 5, 6], &[2, 3])?;
    /// let ([rows, columns], elements) = x.check("x").array::<u8, 2>()?;
    /// assert_eq!((rows, columns, elements[3]), (2, 3, 4));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`extents`](Self::extents) and [`as_slice`](Self::as_slice).
    #[inline(never)]
    pub fn array<T: Element, const N: usize>(self) -> Result<([usize; N], S::Elements<T>)> {
        let elements = self.ndim(N)?.as_slice()?;
        Ok((self.extents()?, elements))
    }

    /// Checks all extents, and borrows the elements as a slice.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[1u8, 2, 3, 4, 5, 6], &[2, 3])?;
    /// assert_eq!(x.check("x").elements::<u8>(&[2, 3])?.len(), 6);
    /// let error = x.check("x").elements::<u8>(&[2, 4]).map(drop).unwrap_err();
    /// assert_eq!(error.message(), "Invalid x.shape[1], expected 4");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`shape`](Self::shape) and [`as_slice`](Self::as_slice).
    #[inline(never)]
    pub fn elements<T: Element>(self, shape: &[usize]) -> Result<S::Elements<T>> {
        self.extents_are(shape)?.as_slice()
    }

    /// Borrows the elements as [`as_slice`](Self::as_slice) does, and checks that each is an index:
    /// 0 or more, and less than `len`.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let ids = Tensor::from_slice(&[2i32, 0, 7], &[3])?;
    /// assert_eq!(ids.check("ids").indices::<i32>(8)?, [2, 0, 7]);
    /// let error = ids.check("ids").indices::<i32>(4).map(drop).unwrap_err();
    /// assert_eq!(error.to_string(), "IndexError: Invalid ids[2], expected 0 to less than 4");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`as_slice`](Self::as_slice); IndexError for another element.
    #[inline(never)]
    pub fn indices<T: Element + Into<i64>>(self, len: usize) -> Result<S::Elements<T>> {
        let elements = self.as_slice::<T>()?;
        let wrong = elements.iter().position(|element| {
            usize::try_from((*element).into()).map_or(true, |index| index >= len)
        });
        let Some(place) = wrong else { return Ok(elements) };
        self.pass(
            false,
            || {
                plain_error!(
                    INDEX_ERROR,
                    "Invalid {}[{}], expected 0 to less than {}",
                    self.name(),
                    place,
                    len
                )
            },
            |out| got_number(out, elements[place].into()),
        )?;
        Ok(elements)
    }
}

/// Writes the actual value, a number: `, got 3`.
fn got_number(out: &mut Writer<'_>, number: i64) {
    out.put(b", got ");
    out.put_number(number);
}

/// Writes the actual value, a string: `, got float64`.
fn got_text(out: &mut Writer<'_>, text: &[u8]) {
    out.put(b", got ");
    out.put_lossy(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DLDevice, DLTensor};
    use crate::value::device::kind;
    use std::string::{String, ToString};

    fn text<T>(outcome: Result<T>) -> String {
        outcome.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn a_tensor_that_fits_passes_all_checks() {
        let tensor = Tensor::from_slice(&[1i16; 6], &[2, 3]).unwrap();
        let checked = tensor
            .check("x")
            .dtype::<i16>()
            .and_then(|x| x.shape(&[2, 3]))
            .and_then(|x| x.contiguous());
        let checked =
            checked.and_then(|x| x.stride(0, 3)).and_then(|x| x.device_type(kind::CPU)).unwrap();
        assert_eq!((checked.extent(1), checked.extent(2)), (3, 0));
        assert!(checked.same_device(tensor.check("y")).is_ok());
        assert_eq!(checked.tensor().ndim(), 2);
    }

    #[test]
    fn each_check_says_what_it_expects() {
        let tensor = Tensor::from_slice(&[1i16; 6], &[2, 3]).unwrap();
        let x = tensor.check("x");
        assert_eq!(text(x.ndim(1)), "ValueError: Mismatched x.ndim, expected 1");
        assert_eq!(text(x.dtype::<f64>()), "TypeError: Mismatched x.dtype, expected float64");
        assert_eq!(text(x.shape(&[2])), "ValueError: Mismatched x.ndim, expected 1");
        assert_eq!(text(x.shape(&[2, 4])), "ValueError: Invalid x.shape[1], expected 4");
        assert_eq!(text(x.dim(2, 1)), "ValueError: Invalid x.shape[2], expected 1");
        assert_eq!(text(x.stride(0, 1)), "ValueError: Invalid x.strides[0], expected 1");
        assert_eq!(text(x.stride(7, 1)), "ValueError: Invalid x.strides[7], expected 1");
        assert_eq!(
            text(x.device_type(kind::CUDA)),
            "ValueError: Mismatched x.device_type, expected cuda"
        );
    }

    #[test]
    fn strides_and_devices_are_compared() {
        let tensor = Tensor::from_slice(&[1i16; 6], &[2, 3]).unwrap();
        let (mut shape, mut strides) = ([3, 2], [1, 3]);
        let device = DLDevice { device_type: kind::CPU, device_id: 1 };
        let (shape, strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
        let turned = DLTensor { device, shape, strides, ..*tensor.dl_tensor() };
        // SAFETY: the lists and the data outlive the reference.
        let turned = unsafe { TensorRef::from_raw(&raw const turned) }.check("y");
        assert_eq!(
            text(turned.contiguous()),
            "ValueError: Mismatched y.strides, expected to be compact array"
        );
        assert!(turned.stride(1, 3).is_ok());
        let expected = "ValueError: Mismatched y.device, expected to match x.device";
        assert_eq!(text(turned.same_device(tensor.check("x"))), expected);
    }

    #[test]
    fn a_tensor_without_strides_has_compact_ones() {
        let tensor = Tensor::from_slice(&[1i16; 24], &[2, 3, 4]).unwrap();
        let bare = DLTensor { strides: core::ptr::null_mut(), ..*tensor.dl_tensor() };
        // SAFETY: the shape and the data outlive the reference.
        let x = unsafe { TensorRef::from_raw(&raw const bare) }.check("x");
        assert!(x.stride(0, 12).and_then(|x| x.stride(1, 4)).and_then(|x| x.stride(2, 1)).is_ok());
        assert!(x.stride(3, 1).is_err());
    }
}

//! Checks of tensors that a function is given, in one line.

use super::{Element, Tensor, TensorRef};
use crate::device;
use crate::error::Result;
use crate::{plain_bail, plain_ensure};

/// Checks of one tensor, each of which returns the checks again or the first error.
///
/// # Examples
/// ```
/// use ferrite_core::device::kind;
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
/// # Upstream
/// The checks in code that TVM generates, whose messages go on with the number of the argument and the signature. `ferrite/kernel.h`
/// has the same checks for C.
#[derive(Clone, Copy)]
pub struct TensorCheck<'a> {
    tensor: TensorRef<'a>,
    name: &'a str,
}

impl<'a> TensorRef<'a> {
    /// Begins checks of the tensor. Messages call it `name`.
    pub fn check(self, name: &'a str) -> TensorCheck<'a> {
        TensorCheck { tensor: self, name }
    }
}

impl Tensor {
    /// Begins checks of the tensor. Messages call it `name`.
    pub fn check<'a>(&'a self, name: &'a str) -> TensorCheck<'a> {
        self.as_tensor_ref().check(name)
    }
}

impl<'a> TensorCheck<'a> {
    /// Checks the number of dimensions.
    ///
    /// # Errors
    /// ValueError.
    pub fn ndim(self, ndim: usize) -> Result<Self> {
        let fits = self.tensor.ndim() == ndim;
        plain_ensure!(fits, VALUE_ERROR, "Mismatched {}.ndim, expected {}", self.name, ndim);
        Ok(self)
    }

    /// Checks the type of the elements.
    ///
    /// # Errors
    /// TypeError.
    pub fn dtype<T: Element>(self) -> Result<Self> {
        if self.tensor.dtype() != T::DTYPE {
            let expected = crate::dtype::to_string(T::DTYPE)?;
            plain_bail!(TYPE_ERROR, "Mismatched {}.dtype, expected {}", self.name, &expected);
        }
        Ok(self)
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
    pub fn dim(self, axis: usize, extent: i64) -> Result<Self> {
        let fits = self.tensor.shape().get(axis) == Some(&extent);
        plain_ensure!(fits, VALUE_ERROR, "Invalid {}.shape[{}], expected {}", self.name, axis, &extent);
        Ok(self)
    }

    /// Checks the stride of an axis, in elements. A tensor without strides has those of a compact one.
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
        let compact =
            |inner: &[i64]| inner.iter().fold(1i64, |product, extent| product.wrapping_mul(*extent));
        let actual = match self.tensor.strides() {
            Some(strides) => strides.get(axis).copied(),
            None => self
                .tensor
                .shape()
                .get(axis..)
                .and_then(|rest| rest.split_first())
                .map(|(_, inner)| compact(inner)),
        };
        let fits = actual == Some(stride);
        plain_ensure!(fits, VALUE_ERROR, "Invalid {}.strides[{}], expected {}", self.name, axis, &stride);
        Ok(self)
    }

    /// Checks that the elements are contiguous in row-major order.
    ///
    /// # Errors
    /// ValueError.
    pub fn contiguous(self) -> Result<Self> {
        let fits = self.tensor.is_contiguous();
        plain_ensure!(fits, VALUE_ERROR, "Mismatched {}.strides, expected to be compact array", self.name);
        Ok(self)
    }

    /// Checks the type of the device, one of [`device::kind`].
    ///
    /// # Errors
    /// ValueError.
    pub fn device_type(self, device_type: i32) -> Result<Self> {
        let fits = self.tensor.device().device_type == device_type;
        let name = device::type_name(device_type).unwrap_or("unknown");
        plain_ensure!(fits, VALUE_ERROR, "Mismatched {}.device_type, expected {}", self.name, name);
        Ok(self)
    }

    /// Checks that the tensor is on the device of another one.
    ///
    /// # Errors
    /// ValueError.
    pub fn same_device(self, other: TensorCheck<'_>) -> Result<Self> {
        let fits = self.tensor.device() == other.tensor.device();
        plain_ensure!(
            fits,
            VALUE_ERROR,
            "Mismatched {}.device, expected to match {}.device",
            self.name,
            other.name
        );
        Ok(self)
    }

    /// Returns the extent of an axis, or 0 if there is no such axis.
    pub fn extent(self, axis: usize) -> i64 {
        self.tensor.shape().get(axis).copied().unwrap_or(0)
    }

    /// Returns the tensor.
    pub fn tensor(self) -> TensorRef<'a> {
        self.tensor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DLDevice, DLTensor};
    use crate::device::kind;
    use std::string::{String, ToString};

    fn text<T>(outcome: Result<T>) -> String {
        outcome.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn a_tensor_that_fits_passes_all_checks() {
        let tensor = Tensor::from_slice(&[1i16; 6], &[2, 3]).unwrap();
        let checked =
            tensor.check("x").dtype::<i16>().and_then(|x| x.shape(&[2, 3])).and_then(|x| x.contiguous());
        let checked = checked.and_then(|x| x.stride(0, 3)).and_then(|x| x.device_type(kind::CPU)).unwrap();
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
        assert_eq!(text(x.device_type(kind::CUDA)), "ValueError: Mismatched x.device_type, expected cuda");
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

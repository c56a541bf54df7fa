//! Tensors over the elements of a vector, which is moved, not copied.

use alloc::vec::Vec;
use core::ptr;

use super::{Element, Tensor};
use crate::abi::{DLDevice, DLTensor, TVMFFIObject, type_index};
use crate::error::{Error, Result, out_of_memory};
use crate::object::ObjectRef;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::plain_ensure;
use crate::value::{device, shape};

/// Record of an object that keeps a vector alive.
#[repr(C)]
struct VecRecord<T> {
    header: TVMFFIObject,
    elements: Vec<T>,
}

// SAFETY: the header comes first; the vector is dropped once, when the object is destroyed.
unsafe impl<T: Element> ObjectRecord for VecRecord<T> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is alive until its destruction ends.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<VecRecord<T>>()).elements) }
    }
}

/// Creates an object that keeps the elements of a vector where they are.
///
/// # Errors
/// MemoryError. On failure the vector is dropped.
pub(crate) fn owner_of<T: Element>(elements: Vec<T>) -> Result<ObjectRef> {
    // SAFETY: `record` is a new object; the vector is the only field behind its header.
    let init = |record: *mut VecRecord<T>| unsafe { (&raw mut (*record).elements).write(elements) };
    // SAFETY: `init` writes the vector; plain objects may have any record.
    unsafe { object_alloc::allocate(type_index::OBJECT, 0, init) }
}

impl Tensor {
    /// Creates a tensor in main memory over the elements of a vector, in row-major order. The
    /// elements stay where they are, aligned as the vector is; [`from_slice`](Tensor::from_slice)
    /// copies them to memory that is aligned to 64 bytes.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let pixels = vec![0u8; 28 * 28];
    /// let address = pixels.as_ptr();
    /// let image = Tensor::from_vec(pixels, &[1, 28, 28])?;
    /// assert_eq!(image.as_slice::<u8>()?.as_ptr(), address);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError if the number of elements does not match `shape`; MemoryError. On failure the
    /// vector is dropped.
    pub fn from_vec<T: Element>(mut elements: Vec<T>, shape: &[i64]) -> Result<Tensor> {
        let expected = shape::product(shape).and_then(|expected| usize::try_from(expected).ok());
        let actual = elements.len();
        plain_ensure!(
            expected == Some(actual),
            VALUE_ERROR,
            "the shape has {} elements but {} were given",
            expected.unwrap_or(usize::MAX),
            actual
        );
        let prototype = DLTensor {
            data: elements.as_mut_ptr().cast(),
            device: DLDevice { device_type: device::kind::CPU, device_id: 0 },
            ndim: i32::try_from(shape.len()).unwrap_or(i32::MAX),
            dtype: T::DTYPE,
            shape: shape.as_ptr().cast_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let owner = owner_of(elements)?;
        // SAFETY: the shape has `ndim` extents; the elements live where they are as long as
        // `owner`.
        unsafe { Tensor::from_owner(&owner, &prototype) }
    }

    /// Creates a tensor in main memory with the values of an iterator in row-major order.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let squares = Tensor::from_iter((0..6).map(|x| x * x), &[2, 3])?;
    /// assert_eq!(squares.as_slice::<i32>()?, [0, 1, 4, 9, 16, 25]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`from_vec`](Tensor::from_vec).
    pub fn from_iter<T: Element>(
        values: impl IntoIterator<Item = T>,
        shape: &[i64],
    ) -> Result<Tensor> {
        let values = values.into_iter();
        let mut elements = Vec::new();
        reserve(&mut elements, values.size_hint().0)?;
        for value in values {
            if elements.len() == elements.capacity() {
                let more = elements.len().max(16);
                reserve(&mut elements, more)?;
            }
            elements.push(value);
        }
        Tensor::from_vec(elements, shape)
    }
}

fn reserve<T>(elements: &mut Vec<T>, more: usize) -> Result<()> {
    elements.try_reserve_exact(more).map_err(|_| out_of_memory(more.saturating_mul(size_of::<T>())))
}

/// Creates a tensor of one dimension over the elements of the vector; see [`Tensor::from_vec`].
impl<T: Element> TryFrom<Vec<T>> for Tensor {
    type Error = Error;

    fn try_from(elements: Vec<T>) -> Result<Tensor> {
        let len = elements.len() as i64;
        Tensor::from_vec(elements, &[len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn the_elements_stay_where_they_are_until_the_last_reference() {
        let elements = vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let address = elements.as_ptr();
        let tensor = Tensor::from_vec(elements, &[2, 3]).unwrap();
        let twin = tensor.clone();
        drop(tensor);
        assert_eq!((twin.shape(), twin.is_contiguous()), (&[2, 3][..], true));
        assert_eq!(twin.as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(twin.as_slice::<f32>().unwrap().as_ptr(), address);
        assert!(twin.as_slice::<f64>().is_err());
    }

    #[test]
    fn iterators_of_unknown_length_are_collected() {
        let tensor =
            Tensor::from_iter((0..100i64).filter(|value| value % 2 == 0), &[5, 10]).unwrap();
        assert_eq!(tensor.as_slice::<i64>().unwrap()[49], 98);
        assert_eq!(Tensor::try_from(vec![7u8]).unwrap().shape(), [1]);
        assert!(Tensor::try_from(Vec::<f64>::new()).unwrap().as_slice::<f64>().unwrap().is_empty());
    }

    #[test]
    fn another_number_of_elements_is_refused() {
        for shape in [&[3][..], &[], &[-2, -1], &[i64::MAX, 4]] {
            let error = Tensor::from_vec(vec![1i32, 2], shape).map(drop).unwrap_err();
            assert_eq!(error.kind_bytes(), b"ValueError", "{shape:?}");
        }
    }
}

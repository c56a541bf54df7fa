//! Guards of borrowed elements: slices during whose life the borrow state of the tensor excludes
//! conflicting accesses.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

use super::Element;
use super::borrow::Borrow;

/// The elements of a tensor, borrowed for reading: a slice. While it lives, functions that would
/// write the elements raise a RuntimeError.
///
/// # Examples
/// ```
/// use ferrite_core::Tensor;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let tensor = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
/// let elements = tensor.as_slice::<f32>()?;
/// assert_eq!((elements[1], elements.iter().sum::<f32>()), (2.0, 3.0));
/// assert_eq!(tensor.borrow_mut::<f32>().unwrap_err().kind_bytes(), b"RuntimeError");
/// drop(elements);
/// tensor.borrow_mut::<f32>()?.fill(7.0);
/// assert_eq!(tensor.as_slice::<f32>()?, [7.0, 7.0]);
/// # Ok(())
/// # }
/// ```
pub struct Elements<'a, T>(Slice<'a, T, false>);

/// The elements of a tensor, borrowed for writing: a mutable slice. While it lives, other borrows
/// of the elements raise a RuntimeError.
///
/// # Examples
/// See [`Elements`].
pub struct ElementsMut<'a, T>(Slice<'a, T, true>);

/// Address and number of the elements, and their borrow. Not a reference: that would have to stay
/// valid until the guard is dropped, after the borrow has ended.
struct Slice<'a, T, const WRITES: bool> {
    data: NonNull<T>,
    len: usize,
    #[allow(dead_code, reason = "its destructor ends the borrow")]
    borrow: Borrow<'a, WRITES>,
    elements: PhantomData<&'a [T]>,
}

// SAFETY: a guard is a slice of elements, which are plain numbers, and a borrow, which any thread
// may end.
unsafe impl<T: Element, const WRITES: bool> Send for Slice<'_, T, WRITES> {}
// SAFETY: as for Send: a shared guard gives shared access to the elements.
unsafe impl<T: Element, const WRITES: bool> Sync for Slice<'_, T, WRITES> {}

impl<'a, T, const WRITES: bool> Slice<'a, T, WRITES> {
    fn new(elements: (*mut T, usize), borrow: Borrow<'a, WRITES>) -> Self {
        let (data, len) = elements;
        // SAFETY: the caller checked the address.
        Slice { data: unsafe { NonNull::new_unchecked(data) }, len, borrow, elements: PhantomData }
    }
}

impl<'a, T> Elements<'a, T> {
    /// Creates the guard of a slice.
    ///
    /// # Safety
    /// Address and length must be those of a slice that is valid for `'a` and not written while the
    /// borrow lives.
    pub(super) unsafe fn new(elements: (*mut T, usize), borrow: Borrow<'a, false>) -> Self {
        Elements(Slice::new(elements, borrow))
    }
}

impl<'a, T> ElementsMut<'a, T> {
    /// Creates the guard of a slice.
    ///
    /// # Safety
    /// Address and length must be those of a slice that is valid for `'a` and not used elsewhere
    /// while the borrow lives.
    pub(super) unsafe fn new(elements: (*mut T, usize), borrow: Borrow<'a, true>) -> Self {
        ElementsMut(Slice::new(elements, borrow))
    }
}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the constructor's promise.
        unsafe { slice::from_raw_parts(self.0.data.as_ptr(), self.0.len) }
    }
}

impl<T> Deref for ElementsMut<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the constructor's promise.
        unsafe { slice::from_raw_parts(self.0.data.as_ptr(), self.0.len) }
    }
}

impl<T> DerefMut for ElementsMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the constructor's promise, and the guard is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.0.data.as_ptr(), self.0.len) }
    }
}

/// Implements `Debug`, `AsRef` and iteration for both guards, as slices have them.
macro_rules! as_slices {
    ($($guard:ident)*) => {$(
        impl<T: fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T> AsRef<[T]> for $guard<'_, T> {
            fn as_ref(&self) -> &[T] {
                self
            }
        }

        impl<'b, T> IntoIterator for &'b $guard<'_, T> {
            type Item = &'b T;
            type IntoIter = slice::Iter<'b, T>;

            fn into_iter(self) -> slice::Iter<'b, T> {
                self.iter()
            }
        }

        impl<T: PartialEq> PartialEq for $guard<'_, T> {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl<T: PartialEq> PartialEq<[T]> for $guard<'_, T> {
            fn eq(&self, other: &[T]) -> bool {
                **self == *other
            }
        }

        impl<T: PartialEq> PartialEq<&[T]> for $guard<'_, T> {
            fn eq(&self, other: &&[T]) -> bool {
                **self == **other
            }
        }

        impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for $guard<'_, T> {
            fn eq(&self, other: &[T; N]) -> bool {
                **self == *other
            }
        }

        impl<T: PartialEq, const N: usize> PartialEq<&[T; N]> for $guard<'_, T> {
            fn eq(&self, other: &&[T; N]) -> bool {
                **self == **other
            }
        }

        #[cfg(feature = "alloc")]
        impl<T: PartialEq> PartialEq<alloc::vec::Vec<T>> for $guard<'_, T> {
            fn eq(&self, other: &alloc::vec::Vec<T>) -> bool {
                **self == **other
            }
        }
    )*};
}

as_slices!(Elements ElementsMut);

impl<'b, T> IntoIterator for &'b mut ElementsMut<'_, T> {
    type Item = &'b mut T;
    type IntoIter = slice::IterMut<'b, T>;

    fn into_iter(self) -> slice::IterMut<'b, T> {
        self.iter_mut()
    }
}

//! Typed copy-on-write array.

mod object;

use core::marker::PhantomData;

use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::Value;

use super::sequence::position_of;
use super::typed::typed_container;
pub use object::ArrayObject;

/// Initial capacity of an empty array.
const FIRST_CAPACITY: usize = 4;

/// A reference to an array whose elements convert to `T`.
///
/// Cloning shares the object. A change through one reference copies a shared array first, so other
/// references do not see it.
///
/// Threads: references may be sent and shared between threads. Changes need `&mut self`.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Array;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let first = Array::from_slice(&[1i64, 2, 3])?;
/// let mut second = first.clone();
/// second.push(4)?;
/// assert_eq!((first.len(), second.len()), (3, 4));
/// assert_eq!(second.get(3)?, 4);
/// assert!(second.get(4).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `Array<T>` in `include/tvm/ffi/container/array.h`.
#[repr(transparent)]
pub struct Array<T = Any> {
    object: ArrayObject,
    types: PhantomData<T>,
}

impl<T: Value> Array<T> {
    /// Creates an empty array.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new() -> Result<Self> {
        Self::with_capacity(FIRST_CAPACITY)
    }

    /// Creates an empty array with the given capacity.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        ArrayObject::with_capacity(capacity).map(Self::from_object_unchecked)
    }

    /// Creates an array from the values of an iterator.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::containers::Array;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let squares = Array::try_from_iter((1..=3).map(|n: i64| n * n))?;
    /// assert_eq!(squares.iter().collect::<ferrite_core::Result<Vec<_>>>()?, [1, 4, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError.
    pub fn try_from_iter(values: impl IntoIterator<Item = T>) -> Result<Self> {
        let values = values.into_iter();
        let mut array = Self::with_capacity(values.size_hint().0)?;
        for value in values {
            array.push(value)?;
        }
        Ok(array)
    }

    /// Creates an array with clones of `values`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_slice(values: &[T]) -> Result<Self>
    where
        T: Clone,
    {
        Self::try_from_iter(values.iter().cloned())
    }

    /// Returns the elements as a slice of untyped values, without conversion.
    pub fn as_slice(&self) -> &[Any] {
        self.object.as_slice()
    }

    /// Returns the element at `index`, converted to `T`.
    ///
    /// # Errors
    /// IndexError if the index is not below the length; TypeError if C code stored an element of
    /// another type.
    pub fn get(&self, index: usize) -> Result<T> {
        self.object.get(position_of(index))?.get()
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is not below the length; MemoryError if a shared array must be
    /// copied.
    pub fn set(&mut self, index: usize, value: T) -> Result<()> {
        self.object.set(position_of(index), value.try_into_any()?)
    }

    /// Appends an element.
    ///
    /// # Errors
    /// MemoryError. On failure the array is unchanged.
    pub fn push(&mut self, value: T) -> Result<()> {
        self.object.push(value.try_into_any()?)
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    /// IndexError if the index is above the length; MemoryError.
    pub fn insert(&mut self, index: usize, value: T) -> Result<()> {
        self.object.insert(position_of(index), value.try_into_any()?)
    }

    /// Removes and returns the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is not below the length; MemoryError if a shared array must be
    /// copied.
    pub fn remove(&mut self, index: usize) -> Result<Any> {
        self.object.remove(position_of(index))
    }

    /// Removes and returns the last element; `None` if the array is empty.
    ///
    /// # Errors
    /// MemoryError if a shared array must be copied.
    pub fn pop(&mut self) -> Result<Option<Any>> {
        self.object.pop()
    }

    /// Removes all elements.
    ///
    /// # Errors
    /// MemoryError if the array is shared and no empty array can be allocated.
    pub fn clear(&mut self) -> Result<()> {
        self.object.clear()
    }

    /// Returns an iterator over the elements in order.
    pub fn iter(&self) -> ArrayIter<'_, T> {
        ArrayIter { values: self.as_slice().iter(), element: PhantomData }
    }
}

typed_container!(Array<T>, ArrayObject);

impl<T> core::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.object.as_slice()).finish()
    }
}

impl<'a, T: Value> IntoIterator for &'a Array<T> {
    type Item = Result<T>;
    type IntoIter = ArrayIter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over the elements of an [`Array`]. Converts each element when it is reached.
pub struct ArrayIter<'a, T> {
    values: core::slice::Iter<'a, Any>,
    element: PhantomData<T>,
}

impl<T: Value> Iterator for ArrayIter<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.values.next().map(Any::get)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}

impl<T: Value> DoubleEndedIterator for ArrayIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.values.next_back().map(Any::get)
    }
}

impl<T: Value> ExactSizeIterator for ArrayIter<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(array: &Array<i64>) -> Result<std::vec::Vec<i64>> {
        array.iter().collect()
    }

    /// Reads the words behind the handle as C code does.
    fn word<T>(array: &ArrayObject, offset: usize) -> T {
        // SAFETY: the record has 56 bytes, and tests read fields inside it.
        unsafe { array.as_object().as_ptr().byte_add(offset).cast::<T>().read() }
    }

    #[test]
    fn elements_lie_in_the_object_at_upstreams_offsets() -> Result<()> {
        let array = Array::from_slice(&[7i64, 8, 9])?;
        let object = array.as_untyped();
        assert_eq!(object.as_object().type_index(), 71);
        assert_eq!(word::<usize>(object, 24), object.as_object().as_ptr() as usize + 56);
        assert_eq!(
            (word::<i64>(object, 32), word::<i64>(object, 40), word::<usize>(object, 48)),
            (3, 3, 0)
        );
        // SAFETY: the second cell starts 16 bytes behind the first.
        let second =
            unsafe { object.as_object().as_ptr().byte_add(56 + 16 + 8).cast::<i64>().read() };
        assert_eq!(second, 8);
        Ok(())
    }

    #[test]
    fn empty_constructor_has_room_for_four_and_growth_doubles() -> Result<()> {
        let mut array = Array::new()?;
        assert_eq!(array.as_untyped().capacity(), 4);
        for value in 0..9i64 {
            array.push(value)?;
        }
        assert_eq!(array.as_untyped().capacity(), 16);
        assert_eq!(numbers(&array)?, (0..9).collect::<std::vec::Vec<_>>());
        Ok(())
    }

    #[test]
    fn shared_arrays_are_copied_before_a_change() -> Result<()> {
        let mut array = Array::from_slice(&[1i64, 2])?;
        let other = array.clone();
        array.set(0, 5)?;
        assert_eq!(numbers(&other)?, [1, 2]);
        assert_eq!(numbers(&array)?, [5, 2]);
        let before = array.as_untyped().as_object().as_ptr();
        array.set(1, 6)?;
        assert_eq!(before, array.as_untyped().as_object().as_ptr());
        Ok(())
    }

    #[test]
    fn indices_beyond_the_end_are_index_errors() -> Result<()> {
        let mut array = Array::from_slice(&[1i64])?;
        let error = array.get(1).expect_err("one element");
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"IndexError"[..], &b"Index 1 out of bounds 1"[..])
        );
        let error = array.as_untyped().get(-1).expect_err("negative");
        assert_eq!(error.message_bytes(), b"Index -1 out of bounds 1");
        let error = array.insert(3, 1).expect_err("gap");
        assert_eq!(error.message_bytes(), b"Index 3 out of bounds [0, 1]");
        let error = array.object.remove_range(0, 2).expect_err("too long");
        assert_eq!(error.message_bytes(), b"Erase range [0, 2) out of bounds 1");
        assert!(array.object.remove_range(9, 9).is_ok());
        let error = array.object.resize(-1).expect_err("negative");
        assert_eq!(error.kind_bytes(), b"ValueError");
        Ok(())
    }

    #[test]
    fn absurd_capacities_are_memory_errors() {
        for capacity in [usize::MAX, usize::MAX / 16, 1 << (usize::BITS - 6)] {
            let error = Array::<i64>::with_capacity(capacity).expect_err("no such memory");
            assert_eq!(error.kind_bytes(), b"MemoryError");
        }
    }

    #[test]
    fn insertion_removal_and_resizing_keep_order() -> Result<()> {
        let mut array = Array::try_from_iter(0..5i64)?;
        array.insert(2, 9)?;
        array.remove(0)?;
        assert_eq!(numbers(&array)?, [1, 9, 2, 3, 4]);
        array.object.remove_range(1, 3)?;
        assert_eq!(array.pop()?.map(|value| value.get::<i64>()).transpose()?, Some(4));
        assert_eq!(numbers(&array)?, [1, 3]);
        array.object.resize(3)?;
        assert!(array.as_slice()[2].is_none());
        array.clear()?;
        assert!(array.is_empty());
        Ok(())
    }
}

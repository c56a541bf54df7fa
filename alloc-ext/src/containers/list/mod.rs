//! Typed mutable list, changed in place through all references.

mod object;

use core::marker::PhantomData;

use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::Value;

use super::sequence::position_of;
use super::typed::typed_container;
pub(crate) use object::BorrowedElements;
pub use object::ListObject;

/// A reference to a list whose elements convert to `T`.
///
/// Cloning shares the object, and all references see every change. Methods that change the list
/// take `&self`.
///
/// Threads: an access that conflicts with that of another thread is a RuntimeError, see
/// [`ListObject`].
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::List;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let list = List::from_slice(&[1i64, 2])?;
/// let other = list.clone();
/// other.push(3)?;
/// assert_eq!(list.len(), 3);
/// assert_eq!(list.get(2)?, 3);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `List<T>` in `include/tvm/ffi/container/list.h`.
#[repr(transparent)]
pub struct List<T = Any> {
    object: ListObject,
    types: PhantomData<T>,
}

impl<T: Value> List<T> {
    /// Creates an empty list. Does not allocate a block for elements.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new() -> Result<Self> {
        Self::with_capacity(0)
    }

    /// Creates an empty list with the given capacity.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        ListObject::with_capacity(capacity).map(Self::from_object_unchecked)
    }

    /// Creates a list from the values of an iterator.
    ///
    /// # Errors
    /// MemoryError.
    pub fn try_from_iter(values: impl IntoIterator<Item = T>) -> Result<Self> {
        let values = values.into_iter();
        let list = Self::with_capacity(values.size_hint().0)?;
        for value in values {
            list.push(value)?;
        }
        Ok(list)
    }

    /// Creates a list with clones of `values`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_slice(values: &[T]) -> Result<Self>
    where
        T: Clone,
    {
        Self::try_from_iter(values.iter().cloned())
    }

    /// Returns the element at `index`, converted to `T`.
    ///
    /// # Errors
    /// IndexError if the index is not below the length; TypeError if an element of another type was
    /// stored through another reference; RuntimeError if another thread is changing the list.
    pub fn get(&self, index: usize) -> Result<T> {
        self.object.get(position_of(index))?.get()
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is not below the length; RuntimeError if another thread is using the
    /// list.
    pub fn set(&self, index: usize, value: T) -> Result<()> {
        self.object.set(position_of(index), value.try_into_any()?)
    }

    /// Appends an element.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list; MemoryError. On failure the list is
    /// unchanged.
    pub fn push(&self, value: T) -> Result<()> {
        self.object.push(value.try_into_any()?)
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::containers::List;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let list = List::from_slice(&[1i64, 3])?;
    /// list.insert(1, 2)?;
    /// list.reverse()?;
    /// assert_eq!((list.get(0)?, list.get(1)?, list.get(2)?), (3, 2, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// IndexError if the index is above the length; RuntimeError if another thread is using the
    /// list; MemoryError.
    pub fn insert(&self, index: usize, value: T) -> Result<()> {
        self.object.insert(position_of(index), value.try_into_any()?)
    }

    /// Removes and returns the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is not below the length; RuntimeError if another thread is using the
    /// list.
    pub fn remove(&self, index: usize) -> Result<Any> {
        self.object.remove(position_of(index))
    }

    /// Removes and returns the last element; `None` if the list is empty.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    pub fn pop(&self) -> Result<Option<Any>> {
        self.object.pop()
    }

    /// Reverses the order of the elements in place.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    pub fn reverse(&self) -> Result<()> {
        self.object.reverse()
    }

    /// Removes all elements.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    pub fn clear(&self) -> Result<()> {
        self.object.clear()
    }

    /// Returns an iterator over the elements in order. Elements added or removed during the
    /// iteration may or may not be returned. Each step borrows the list anew: while another thread
    /// is changing it, the step is a RuntimeError, and the iteration ends.
    pub fn iter(&self) -> ListIter<T> {
        ListIter { list: self.object.clone(), next: 0, element: PhantomData }
    }
}

typed_container!(List<T>, ListObject);

impl<T> core::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries((0..).map_while(|index| self.object.element(index).ok()?)).finish()
    }
}

impl<T: Value> IntoIterator for &List<T> {
    type Item = Result<T>;
    type IntoIter = ListIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over the elements of a [`List`], which it keeps alive. Converts each element when it is
/// reached.
pub struct ListIter<T> {
    list: ListObject,
    next: usize,
    element: PhantomData<T>,
}

impl<T: Value> Iterator for ListIter<T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.list.element(self.next).transpose()? {
            Ok(value) => {
                self.next += 1;
                Some(value.get())
            }
            Err(error) => {
                self.next = usize::MAX;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn numbers(list: &List<i64>) -> Result<Vec<i64>> {
        list.iter().collect()
    }

    fn word(list: &ListObject, offset: usize) -> usize {
        // SAFETY: the record has 56 bytes.
        unsafe { list.as_object().as_ptr().byte_add(offset).cast::<usize>().read() }
    }

    #[test]
    fn empty_lists_have_no_block_but_a_deleter() -> Result<()> {
        let list = List::<i64>::new()?;
        let object = list.as_untyped();
        assert_eq!(object.as_object().type_index(), 75);
        assert_eq!((word(object, 24), word(object, 32), word(object, 40)), (0, 0, 0));
        assert_ne!(word(object, 48), 0);
        Ok(())
    }

    #[test]
    fn growth_replaces_the_block_in_the_same_object() -> Result<()> {
        let list = List::new()?;
        let mut capacities = Vec::new();
        for value in 0..5i64 {
            list.push(value)?;
            capacities.push(list.as_untyped().capacity());
        }
        assert_eq!(capacities, [1, 2, 4, 4, 8]);
        assert_eq!(numbers(&list)?, [0, 1, 2, 3, 4]);
        Ok(())
    }

    #[test]
    fn all_holders_see_changes() -> Result<()> {
        let list = List::from_slice(&[3i64, 1, 2])?;
        let other = list.clone();
        other.reverse()?;
        other.set(0, 7)?;
        other.insert(1, 8)?;
        assert_eq!(numbers(&list)?, [7, 8, 1, 3]);
        assert_eq!(other.remove(1)?.get::<i64>()?, 8);
        list.as_untyped().remove_range(0, 2)?;
        assert_eq!(numbers(&other)?, [3]);
        Ok(())
    }

    #[test]
    fn slices_are_replaced_even_by_the_list_itself() -> Result<()> {
        let list = List::from_slice(&[1i64, 2, 3])?;
        list.as_untyped().replace_range(1, 2, list.as_untyped())?;
        assert_eq!(numbers(&list)?, [1, 1, 2, 3, 3]);
        list.as_untyped().replace_range(0, 4, List::<i64>::new()?.as_untyped())?;
        assert_eq!(numbers(&list)?, [3]);
        list.as_untyped().replace_range(1, 1, List::from_slice(&[4i64, 5])?.as_untyped())?;
        assert_eq!(numbers(&list)?, [3, 4, 5]);
        let error = list.as_untyped().replace_range(2, 9, list.as_untyped()).expect_err("too long");
        assert_eq!(error.message_bytes(), b"Erase range [2, 9) out of bounds 3");
        assert_eq!(list.len(), 3);
        Ok(())
    }

    #[test]
    fn elements_may_change_during_iteration() -> Result<()> {
        let list = List::from_slice(&[1i64, 2, 3])?;
        let mut seen = Vec::new();
        for value in &list {
            seen.push(value?);
            list.pop()?;
        }
        assert_eq!(seen, [1, 2]);
        Ok(())
    }

    #[test]
    fn reserve_ignores_what_is_negative_and_refuses_what_is_absurd() -> Result<()> {
        let list = List::<i64>::new()?;
        list.as_untyped().reserve(-5)?;
        list.as_untyped().reserve(10)?;
        list.as_untyped().reserve(3)?;
        assert_eq!(list.as_untyped().capacity(), 10);
        let error = list.as_untyped().reserve(i64::MAX).expect_err("no such memory");
        assert_eq!(error.kind_bytes(), b"MemoryError");
        assert_eq!(list.as_untyped().capacity(), 10);
        Ok(())
    }

    #[test]
    fn blocks_of_c_code_are_taken_over() -> Result<()> {
        let list = List::from_slice(&[1i64])?;
        // A client that grows the list itself: frees the old block by the deleter, and puts one of
        // its own there.
        // SAFETY: the record is laid out as asserted in seq_record.rs, and the new block is one
        // that the deleter accepts.
        unsafe {
            let record = list.as_untyped().as_object().as_ptr();
            let cell = record.byte_add(24).cast::<ferrite_core::abi::TVMFFISeqCell>();
            let block = super::super::storage::allocate_block(16 * 8)?.as_ptr();
            block.cast::<[u64; 2]>().write((*cell).data.cast::<[u64; 2]>().read());
            if let Some(release) = (*cell).data_deleter {
                release((*cell).data);
            }
            (*cell).data = block;
            (*cell).capacity = 8;
        }
        for value in 2..20i64 {
            list.push(value)?;
        }
        assert_eq!(numbers(&list)?, (1..20).collect::<Vec<_>>());
        Ok(())
    }
}

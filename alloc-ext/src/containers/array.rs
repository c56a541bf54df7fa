//! The copy-on-write array.

use core::marker::PhantomData;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::object_alloc::{Apart, Space};
use ferrite_core::{object_class, plain_bail, type_index};

use super::seq::{self, Seq};

/// Cells of an array that starts out empty.
const FIRST_CAPACITY: usize = 4;

object_class!(
    /// A reference to an array object of any elements: what signatures call `ffi.Array`.
    ///
    /// The elements lie in the object itself. A change through one reference is never seen through another: while the
    /// object is shared, the first change copies it, and growth moves the elements to a new object.
    ///
    /// Elements are shared with copies; copying costs one count per element.
    ///
    /// # Upstream
    ///
    /// `ArrayObj` in `include/tvm/ffi/container/array.h`.
    pub struct ArrayObject, type_index::ARRAY, "ffi.Array"
);

impl ArrayObject {
    /// Creates an empty array with room for `capacity` elements.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        Self::with_capacity_in(capacity, &mut Apart)
    }

    /// As [`with_capacity`](Self::with_capacity), in a space.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub(crate) fn with_capacity_in(capacity: usize, space: &mut impl Space) -> Result<Self> {
        seq::allocate_in_place(type_index::ARRAY, capacity, space).map(Self)
    }

    /// Creates an array of own copies of `values`, with no room to spare.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn from_slice(values: &[Any]) -> Result<Self> {
        Self::from_slice_in(values, &mut Apart)
    }

    /// As [`from_slice`](Self::from_slice), in a space.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub(crate) fn from_slice_in(values: &[Any], space: &mut impl Space) -> Result<Self> {
        let array = Self::with_capacity_in(values.len(), space)?;
        // SAFETY: the array is new, unshared and has the room; `values` cannot lie in it.
        unsafe { array.seq().insert_slice_reserved(0, values) }
        Ok(array)
    }

    /// Creates it of the elements of `values` from `first` on, which move here.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there; then they are where they were.
    pub(crate) fn of_tail(values: &mut Buffer<Any>, first: usize, space: &mut impl Space) -> Result<Self> {
        let tail = values.get(first..).unwrap_or_default();
        let array = Self::with_capacity_in(tail.len(), space)?;
        // SAFETY: the array is new, unshared and has the room; the elements are forgotten where they were.
        unsafe { array.seq().push_words_reserved(tail) }
        values.forget_from(first);
        Ok(array)
    }

    /// Creates an array of owned values of `views`, such as the arguments of a packed call.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there; what [`AnyView::to_owned`] raises.
    pub fn from_views(views: &[AnyView<'_>]) -> Result<Self> {
        let fresh = Self::with_capacity(views.len())?;
        // SAFETY: the object is new, unshared and has the room.
        unsafe { fresh.seq().push_views_reserved(views) }?;
        Ok(fresh)
    }

    #[inline]
    fn seq(&self) -> Seq<'_> {
        // SAFETY: this type only holds arrays.
        unsafe { Seq::of(&self.0) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.seq().len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of elements for which the object has room.
    pub fn capacity(&self) -> usize {
        self.seq().capacity()
    }

    /// The elements, in place.
    pub fn as_slice(&self) -> &[Any] {
        // SAFETY: an array changes only through a reference that is the only one, and ours is there and not lent mutably.
        unsafe { self.seq().as_slice() }
    }

    /// The element at `index`.
    ///
    /// # Errors
    ///
    /// IndexError when the index is negative or not below the length.
    pub fn get(&self, index: i64) -> Result<&Any> {
        let position = self.seq().position(index)?;
        // SAFETY: the position is below the length, and Any has the layout of a cell; as for `as_slice`.
        Ok(unsafe { &*self.seq().cells().add(position).cast::<Any>() })
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    ///
    /// IndexError as for [`get`](Self::get); MemoryError when the copy of a shared array finds no memory.
    pub fn set(&mut self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().position(index)?;
        self.make_unique()?;
        drop(self.seq().replace(position, value));
        Ok(())
    }

    /// Appends an element.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn push(&mut self, value: Any) -> Result<()> {
        self.make_room(1)?;
        // SAFETY: the array is unshared and has the room.
        unsafe { self.seq().insert_reserved(self.len(), value) }
        Ok(())
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    ///
    /// IndexError when the index is negative or above the length; MemoryError when the memory is not there.
    pub fn insert(&mut self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().insert_position(index)?;
        self.make_room(1)?;
        // SAFETY: the array is unshared and has the room.
        unsafe { self.seq().insert_reserved(position, value) }
        Ok(())
    }

    /// Appends own copies of `values`.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn extend_from_slice(&mut self, values: &[Any]) -> Result<()> {
        self.make_room(values.len())?;
        // SAFETY: the array is unshared and has the room; a slice of this very object cannot be alive beside `&mut self`.
        unsafe { self.seq().insert_slice_reserved(self.len(), values) }
        Ok(())
    }

    /// Removes the element at `index` and returns it.
    ///
    /// # Errors
    ///
    /// IndexError as for [`get`](Self::get); MemoryError when the copy of a shared array finds no memory.
    pub fn remove(&mut self, index: i64) -> Result<Any> {
        let position = self.seq().position(index)?;
        self.make_unique()?;
        Ok(self.seq().take(position).unwrap_or_default())
    }

    /// Removes the last element and returns it.
    ///
    /// # Errors
    ///
    /// MemoryError when the copy of a shared array finds no memory.
    pub fn pop(&mut self) -> Result<Option<Any>> {
        self.make_unique()?;
        Ok(self.seq().pop())
    }

    /// Removes the elements from `start` up to `stop`. An empty range does nothing, wherever it lies.
    ///
    /// # Errors
    ///
    /// IndexError when the range reaches outside; MemoryError when the copy of a shared array finds no memory.
    pub fn remove_range(&mut self, start: i64, stop: i64) -> Result<()> {
        let range = self.seq().range(start, stop)?;
        if !range.is_empty() {
            self.make_unique()?;
            self.seq().remove_range(range);
        }
        Ok(())
    }

    /// Removes all elements; a shared array is left to its other holders.
    ///
    /// # Errors
    ///
    /// MemoryError when the array is shared and no empty one can be made.
    pub fn clear(&mut self) -> Result<()> {
        if self.0.is_unique() {
            self.seq().drop_last(self.len());
        } else {
            *self = Self::with_capacity(self.capacity())?;
        }
        Ok(())
    }

    /// Makes the length `len`, dropping elements from the end or filling up with None.
    ///
    /// # Errors
    ///
    /// ValueError when `len` is negative; MemoryError when the memory is not there.
    pub fn resize(&mut self, len: i64) -> Result<()> {
        let Ok(target) = usize::try_from(len) else {
            plain_bail!(VALUE_ERROR, "cannot resize an Array to negative size");
        };
        let present = self.len();
        if target <= present {
            self.make_unique()?;
            self.seq().drop_last(present - target);
            return Ok(());
        }
        self.make_room(target - present)?;
        for position in present..target {
            // SAFETY: the array is unshared and has the room.
            unsafe { self.seq().insert_reserved(position, Any::NONE) }
        }
        Ok(())
    }

    /// Makes room for `capacity` elements in all; a smaller number does nothing.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn reserve(&mut self, capacity: usize) -> Result<()> {
        if capacity > self.capacity() { self.switch_object(capacity) } else { Ok(()) }
    }

    /// Sees to it that this is the only reference to the object, by copying a shared one.
    fn make_unique(&mut self) -> Result<()> {
        if self.0.is_unique() { Ok(()) } else { self.switch_object(self.capacity()) }
    }

    /// Sees to it that this is the only reference, and that `extra` more elements fit.
    fn make_room(&mut self, extra: usize) -> Result<()> {
        match self.len().checked_add(extra) {
            Some(needed) if needed <= self.capacity() => self.make_unique(),
            _ => self.switch_object(self.seq().grown_capacity(extra)?),
        }
    }

    /// Goes over to a new object of `capacity` cells, at least the length, with the same elements.
    fn switch_object(&mut self, capacity: usize) -> Result<()> {
        let fresh = Self::with_capacity(capacity.max(self.len()))?;
        // SAFETY: `fresh` is new, unshared and has the room. The elements move only when nobody else sees this object.
        unsafe {
            if self.0.is_unique() {
                self.seq().move_cells_to(fresh.seq());
            } else {
                fresh.seq().insert_slice_reserved(0, self.as_slice());
            }
        }
        *self = fresh;
        Ok(())
    }
}

/// A reference to an array whose elements convert to `T`.
///
/// Cloning shares the object; changing a shared array copies it first, so no other reference sees the change.
///
/// Threads: references may be sent and shared; a change needs `&mut` and thus one thread.
///
/// # Examples
///
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
///
/// `Array<T>` in `include/tvm/ffi/container/array.h`.
pub struct Array<T = Any> {
    object: ArrayObject,
    element: PhantomData<T>,
}

impl<T: AnyCompatible + 'static> Array<T> {
    /// Creates an empty array.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn new() -> Result<Self> {
        Self::with_capacity(FIRST_CAPACITY)
    }

    /// Creates an empty array with room for `capacity` elements.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        ArrayObject::with_capacity(capacity).map(Self::from_object_unchecked)
    }

    /// Creates an array of what `values` yields.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    #[expect(clippy::should_implement_trait, reason = "creation can fail, which FromIterator cannot say")]
    pub fn from_iter(values: impl IntoIterator<Item = T>) -> Result<Self> {
        let values = values.into_iter();
        let mut array = Self::with_capacity(values.size_hint().0)?;
        for value in values {
            array.push(value)?;
        }
        Ok(array)
    }

    /// Creates an array of clones of `values`.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there.
    pub fn from_slice(values: &[T]) -> Result<Self>
    where
        T: Clone,
    {
        Self::from_iter(values.iter().cloned())
    }

    /// Takes an array whose elements the caller knows to be of type `T`; others give a TypeError when they are read.
    pub fn from_object_unchecked(object: ArrayObject) -> Self {
        Self { object, element: PhantomData }
    }

    /// The same array without its element type.
    pub fn as_untyped(&self) -> &ArrayObject {
        &self.object
    }

    /// The same array without its element type.
    pub fn into_untyped(self) -> ArrayObject {
        self.object
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.object.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.object.is_empty()
    }

    /// The elements as values, in place.
    pub fn as_slice(&self) -> &[Any] {
        self.object.as_slice()
    }

    /// The element at `index`.
    ///
    /// # Errors
    ///
    /// IndexError when the index is not below the length; TypeError when C code put another type there.
    pub fn get(&self, index: usize) -> Result<T> {
        self.object.get(position_of(index))?.get()
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    ///
    /// IndexError when the index is not below the length; MemoryError when a shared array cannot be copied.
    pub fn set(&mut self, index: usize, value: T) -> Result<()> {
        self.object.set(position_of(index), value.into_any())
    }

    /// Appends an element.
    ///
    /// # Errors
    ///
    /// MemoryError when the memory is not there; the array is then unchanged.
    pub fn push(&mut self, value: T) -> Result<()> {
        self.object.push(value.into_any())
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    ///
    /// IndexError when the index is above the length; MemoryError when the memory is not there.
    pub fn insert(&mut self, index: usize, value: T) -> Result<()> {
        self.object.insert(position_of(index), value.into_any())
    }

    /// Removes the element at `index`.
    ///
    /// # Errors
    ///
    /// IndexError when the index is not below the length; MemoryError when a shared array cannot be copied.
    pub fn remove(&mut self, index: usize) -> Result<Any> {
        self.object.remove(position_of(index))
    }

    /// Removes the last element.
    ///
    /// # Errors
    ///
    /// MemoryError when a shared array cannot be copied.
    pub fn pop(&mut self) -> Result<Option<Any>> {
        self.object.pop()
    }

    /// Removes all elements.
    ///
    /// # Errors
    ///
    /// MemoryError when the array is shared and no empty one can be made.
    pub fn clear(&mut self) -> Result<()> {
        self.object.clear()
    }

    /// The elements in order.
    pub fn iter(&self) -> ArrayIter<'_, T> {
        ArrayIter { values: self.as_slice().iter(), element: PhantomData }
    }
}

/// An index as the ABI counts; what does not fit is beyond every end.
pub(super) fn position_of(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self { object: self.object.clone(), element: PhantomData }
    }
}

impl<T> core::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.object.as_slice()).finish()
    }
}

impl<T> From<Array<T>> for ObjectRef {
    fn from(array: Array<T>) -> Self {
        array.object.into_object()
    }
}

impl<'a, T: AnyCompatible + 'static> IntoIterator for &'a Array<T> {
    type Item = Result<T>;
    type IntoIter = ArrayIter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The elements of an [`Array`], converted one by one.
pub struct ArrayIter<'a, T> {
    values: core::slice::Iter<'a, Any>,
    element: PhantomData<T>,
}

impl<T: AnyCompatible> Iterator for ArrayIter<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.values.next().map(Any::get)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}

impl<T: AnyCompatible> DoubleEndedIterator for ArrayIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.values.next_back().map(Any::get)
    }
}

impl<T: AnyCompatible> ExactSizeIterator for ArrayIter<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(array: &Array<i64>) -> Result<std::vec::Vec<i64>> {
        array.iter().collect()
    }

    /// Reads the words behind the handle as C code does.
    fn word(array: &ArrayObject, offset: usize) -> usize {
        // SAFETY: the record has 56 bytes.
        unsafe { array.as_object().as_ptr().byte_add(offset).cast::<usize>().read() }
    }

    #[test]
    fn elements_lie_in_the_object_at_upstreams_offsets() -> Result<()> {
        let array = Array::from_slice(&[7i64, 8, 9])?;
        let object = array.as_untyped();
        assert_eq!(object.as_object().type_index(), 71);
        assert_eq!(word(object, 24), object.as_object().as_ptr() as usize + 56);
        assert_eq!((word(object, 32), word(object, 40), word(object, 48)), (3, 3, 0));
        // SAFETY: the second cell starts 16 bytes behind the first.
        let second = unsafe { object.as_object().as_ptr().byte_add(56 + 16 + 8).cast::<i64>().read() };
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
        assert_eq!((error.kind(), error.message()), (&b"IndexError"[..], &b"Index 1 out of bounds 1"[..]));
        let error = array.as_untyped().get(-1).expect_err("negative");
        assert_eq!(error.message(), b"Index -1 out of bounds 1");
        let error = array.insert(3, 1).expect_err("gap");
        assert_eq!(error.message(), b"Index 3 out of bounds [0, 1]");
        let error = array.object.remove_range(0, 2).expect_err("too long");
        assert_eq!(error.message(), b"Erase range [0, 2) out of bounds 1");
        assert!(array.object.remove_range(9, 9).is_ok());
        let error = array.object.resize(-1).expect_err("negative");
        assert_eq!(error.kind(), b"ValueError");
        Ok(())
    }

    #[test]
    fn absurd_capacities_are_memory_errors() {
        for capacity in [usize::MAX, usize::MAX / 16, 1 << 58] {
            let error = Array::<i64>::with_capacity(capacity).expect_err("no such memory");
            assert_eq!(error.kind(), b"MemoryError");
        }
    }

    #[test]
    fn insertion_removal_and_resizing_keep_order() -> Result<()> {
        let mut array = Array::from_iter(0..5i64)?;
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

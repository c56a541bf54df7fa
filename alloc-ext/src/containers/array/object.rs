//! Untyped copy-on-write array.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::object_alloc::{Apart, Space};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{object_class, plain_bail};

use crate::containers::sequence::{self, Seq};

object_class!(
    /// A reference to an array object with elements of any type. Its type key, also used in
    /// signatures, is `ffi.Array`.
    ///
    /// The elements are stored in the object itself. A change through one reference is never seen
    /// through another: the first change while the object is shared copies it, and growth moves the
    /// elements to a new object.
    ///
    /// Cloning shares the object. A copy-on-write copy is shallow: it increments the reference
    /// count of each element that is an object.
    ///
    /// # Upstream
    /// `ArrayObj` in `include/tvm/ffi/container/array.h`.
    pub struct ArrayObject, type_index::ARRAY, "ffi.Array"
);

impl ArrayObject {
    /// Creates an empty array with the given capacity.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        Self::with_capacity_in(capacity, &mut Apart)
    }

    /// Creates an empty array with the given capacity in a memory space.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn with_capacity_in(capacity: usize, space: &mut impl Space) -> Result<Self> {
        sequence::allocate_in_place(type_index::ARRAY, capacity, space).map(Self)
    }

    /// Creates an array with owned copies of `values`. Its capacity equals its length.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_slice(values: &[Any]) -> Result<Self> {
        Self::from_slice_in(values, &mut Apart)
    }

    /// Creates an array with owned copies of `values` in a memory space.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn from_slice_in(values: &[Any], space: &mut impl Space) -> Result<Self> {
        let array = Self::with_capacity_in(values.len(), space)?;
        // SAFETY: the array is new, unshared and has the capacity; `values` cannot lie in it.
        unsafe { array.seq().insert_slice_reserved(0, values) }
        Ok(array)
    }

    /// Creates an array from the elements of `values` at index `first` and above, which move to the
    /// array.
    ///
    /// # Errors
    /// MemoryError. On failure the elements stay in `values`.
    pub(crate) fn of_tail(
        values: &mut Buffer<Any>,
        first: usize,
        space: &mut impl Space,
    ) -> Result<Self> {
        let tail = values.get(first..).unwrap_or_default();
        let array = Self::with_capacity_in(tail.len(), space)?;
        // SAFETY: the array is new, unshared and has the capacity; the elements are forgotten where
        // they were.
        unsafe { array.seq().push_words_reserved(tail) }
        values.forget_from(first);
        Ok(array)
    }

    /// Creates an array with owned copies of `views`, such as the arguments of a packed call.
    ///
    /// # Errors
    /// MemoryError; errors of [`AnyView::to_owned`].
    pub fn from_views(views: &[AnyView<'_>]) -> Result<Self> {
        Self::from_views_in(views, &mut Apart)
    }

    /// Creates an array with owned copies of `views` in a memory space, like
    /// [`from_views`](Self::from_views).
    ///
    /// # Errors
    /// Same errors as [`from_views`](Self::from_views).
    pub fn from_views_in(views: &[AnyView<'_>], space: &mut impl Space) -> Result<Self> {
        let fresh = Self::with_capacity_in(views.len(), space)?;
        // SAFETY: the object is new, unshared and has the capacity.
        unsafe { fresh.seq().push_views_reserved(views) }?;
        Ok(fresh)
    }

    #[inline]
    fn seq(&self) -> Seq<'_> {
        // SAFETY: this type only holds arrays.
        unsafe { Seq::of(&self.0) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.seq().len()
    }

    /// Returns `true` if the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the capacity: the number of elements that fit in the object.
    pub fn capacity(&self) -> usize {
        self.seq().capacity()
    }

    /// Returns the elements as a slice. A DLTensor pointer that C++ code stored is among them as it
    /// is: its tensor must be alive, as that code guarantees.
    pub fn as_slice(&self) -> &[Any] {
        // SAFETY: an array changes only through a unique reference, and this one is not borrowed
        // mutably.
        unsafe { self.seq().as_slice() }
    }

    /// Returns a reference to the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is negative or not below the length.
    pub fn get(&self, index: i64) -> Result<&Any> {
        let position = self.seq().position(index)?;
        // SAFETY: the position is below the length, and Any has the layout of a cell; as for
        // `as_slice`.
        Ok(unsafe { &*self.seq().cells().add(position).cast::<Any>() })
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    /// IndexError like [`get`](Self::get); MemoryError if a shared array must be copied.
    pub fn set(&mut self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().position(index)?;
        self.make_unique()?;
        drop(self.seq().replace(position, value));
        Ok(())
    }

    /// Appends an element.
    ///
    /// # Errors
    /// MemoryError.
    pub fn push(&mut self, value: Any) -> Result<()> {
        self.make_room(1)?;
        // SAFETY: the array is unshared and has the capacity.
        unsafe { self.seq().insert_reserved(self.len(), value) }
        Ok(())
    }

    /// Appends an element if that needs no allocation, because the array is neither shared nor
    /// full. Returns whether it did.
    pub(crate) fn push_in_place(&mut self, value: &Any) -> bool {
        let fits = self.len() < self.capacity() && self.0.is_unique();
        if fits {
            // SAFETY: the array is unshared and has the capacity.
            unsafe { self.seq().insert_reserved(self.len(), value.clone()) }
        }
        fits
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    /// IndexError if the index is negative or above the length; MemoryError.
    pub fn insert(&mut self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().insert_position(index)?;
        self.make_room(1)?;
        // SAFETY: the array is unshared and has the capacity.
        unsafe { self.seq().insert_reserved(position, value) }
        Ok(())
    }

    /// Appends owned copies of `values`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn extend_from_slice(&mut self, values: &[Any]) -> Result<()> {
        self.make_room(values.len())?;
        // SAFETY: the array is unshared and has the capacity; a slice of this very object cannot be
        // alive beside `&mut self`.
        unsafe { self.seq().insert_slice_reserved(self.len(), values) }
        Ok(())
    }

    /// Removes and returns the element at `index`.
    ///
    /// # Errors
    /// IndexError like [`get`](Self::get); MemoryError if a shared array must be copied.
    pub fn remove(&mut self, index: i64) -> Result<Any> {
        let position = self.seq().position(index)?;
        self.make_unique()?;
        Ok(self.seq().take(position).unwrap_or_default())
    }

    /// Removes and returns the last element; `None` if the array is empty.
    ///
    /// # Errors
    /// MemoryError if a shared array must be copied.
    pub fn pop(&mut self) -> Result<Option<Any>> {
        self.make_unique()?;
        Ok(self.seq().pop())
    }

    /// Removes the elements from `start` up to `stop`, exclusive. Does nothing for an empty range,
    /// even one out of bounds.
    ///
    /// # Errors
    /// IndexError if the range is reversed or out of bounds; MemoryError if a shared array must be
    /// copied.
    pub fn remove_range(&mut self, start: i64, stop: i64) -> Result<()> {
        let range = self.seq().range(start, stop)?;
        if !range.is_empty() {
            self.make_unique()?;
            self.seq().remove_range(range);
        }
        Ok(())
    }

    /// Removes all elements. If the array is shared, other references keep theirs.
    ///
    /// # Errors
    /// MemoryError if the array is shared and no empty array can be allocated.
    pub fn clear(&mut self) -> Result<()> {
        if self.0.is_unique() {
            self.seq().drop_last(self.len());
        } else {
            *self = Self::with_capacity(self.capacity())?;
        }
        Ok(())
    }

    /// Changes the length to `len`. Removes elements from the end, or appends None.
    ///
    /// # Errors
    /// ValueError if `len` is negative; MemoryError.
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
            // SAFETY: the array is unshared and has the capacity.
            unsafe { self.seq().insert_reserved(position, Any::NONE) }
        }
        Ok(())
    }

    /// Increases the capacity to at least `capacity`. Does nothing if it is large enough.
    ///
    /// # Errors
    /// MemoryError.
    pub fn reserve(&mut self, capacity: usize) -> Result<()> {
        if capacity > self.capacity() { self.switch_object(capacity) } else { Ok(()) }
    }

    /// Copies the object if it is shared, so that this is the only reference.
    fn make_unique(&mut self) -> Result<()> {
        if self.0.is_unique() { Ok(()) } else { self.switch_object(self.capacity()) }
    }

    /// Copies the object if it is shared or too small, so that this is the only reference and
    /// `extra` more elements fit.
    fn make_room(&mut self, extra: usize) -> Result<()> {
        match self.len().checked_add(extra) {
            Some(needed) if needed <= self.capacity() => self.make_unique(),
            _ => self.switch_object(self.seq().grown_capacity(extra)?),
        }
    }

    /// Replaces the object by a new one with the same elements and the given capacity, or at least
    /// their number.
    fn switch_object(&mut self, capacity: usize) -> Result<()> {
        let fresh = Self::with_capacity(capacity.max(self.len()))?;
        // SAFETY: `fresh` is new, unshared and has the capacity. The elements move only when nobody
        // else sees this object.
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

//! Untyped mutable list, changed in place through all references.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::{object_class, plain_bail, type_index};

use crate::containers::array::ArrayObject;
use crate::containers::sequence::{self, Seq};

object_class!(
    /// A reference to a list object with elements of any type. Its type key, also used in signatures, is `ffi.List`.
    ///
    /// All references see every change. The elements are stored in a separate block, which growth replaces.
    ///
    /// Threads: a list is not synchronised. While one thread changes it, no other thread may use it; the owners must ensure
    /// this.
    ///
    /// # Upstream
    /// `ListObj` in `include/tvm/ffi/container/list.h`.
    pub struct ListObject, type_index::LIST, "ffi.List"
);

/// Minimum capacity of a list that is created with elements.
const LEAST_CAPACITY: usize = 4;

impl ListObject {
    /// Creates an empty list with the given capacity.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        sequence::allocate_with_block(type_index::LIST, capacity).map(Self)
    }

    /// Creates a list with owned copies of `values`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_slice(values: &[Any]) -> Result<Self> {
        let list = Self::with_capacity(values.len().max(LEAST_CAPACITY))?;
        // SAFETY: the list is new, unshared and has the capacity; `values` cannot lie in it.
        unsafe { list.seq().insert_slice_reserved(0, values) }
        Ok(list)
    }

    /// Creates a list with owned copies of `views`, such as the arguments of a packed call.
    ///
    /// # Errors
    /// MemoryError; errors of [`AnyView::to_owned`].
    pub fn from_views(views: &[AnyView<'_>]) -> Result<Self> {
        let fresh = Self::with_capacity(views.len().max(LEAST_CAPACITY))?;
        // SAFETY: the object is new, unshared and has the capacity.
        unsafe { fresh.seq().push_views_reserved(views) }?;
        Ok(fresh)
    }

    #[inline]
    fn seq(&self) -> Seq<'_> {
        // SAFETY: this type only holds lists.
        unsafe { Seq::of(&self.0) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.seq().len()
    }

    /// Returns `true` if the list has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the capacity: the number of elements that fit in the current block.
    pub fn capacity(&self) -> usize {
        self.seq().capacity()
    }

    /// Returns the elements as a slice.
    ///
    /// # Safety
    /// The list must not change while the slice is in use.
    pub(crate) unsafe fn as_slice(&self) -> &[Any] {
        // SAFETY: guaranteed by the caller.
        unsafe { self.seq().as_slice() }
    }

    /// Returns an owned copy of the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is negative or not below the length.
    pub fn get(&self, index: i64) -> Result<Any> {
        self.seq().element(index)
    }

    /// Returns an owned copy of the element at `index`; `None` beyond the end.
    pub(in crate::containers) fn element(&self, index: usize) -> Option<Any> {
        self.seq().get(index)
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    /// IndexError like [`get`](Self::get).
    pub fn set(&self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().position(index)?;
        drop(self.seq().replace(position, value));
        Ok(())
    }

    /// Appends an element.
    ///
    /// # Errors
    /// MemoryError. On failure the list is unchanged.
    pub fn push(&self, value: Any) -> Result<()> {
        self.make_room(1)?;
        // SAFETY: the list has the capacity, and one thread at a time uses it.
        unsafe { self.seq().insert_reserved(self.len(), value) }
        Ok(())
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    /// IndexError if the index is negative or above the length; MemoryError.
    pub fn insert(&self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().insert_position(index)?;
        self.make_room(1)?;
        // SAFETY: as in `push`.
        unsafe { self.seq().insert_reserved(position, value) }
        Ok(())
    }

    /// Removes and returns the element at `index`.
    ///
    /// # Errors
    /// IndexError like [`get`](Self::get).
    pub fn remove(&self, index: i64) -> Result<Any> {
        let position = self.seq().position(index)?;
        Ok(self.seq().take(position).unwrap_or_default())
    }

    /// Removes and returns the last element; `None` if the list is empty.
    pub fn pop(&self) -> Option<Any> {
        self.seq().pop()
    }

    /// Removes the elements from `start` up to `stop`, exclusive. Does nothing for an empty range, even one out of bounds.
    ///
    /// # Errors
    /// IndexError if the range is reversed or out of bounds.
    pub fn remove_range(&self, start: i64, stop: i64) -> Result<()> {
        let range = self.seq().range(start, stop)?;
        self.seq().remove_range(range);
        Ok(())
    }

    /// Replaces the elements from `start` up to `stop`, exclusive, by copies of the elements of `replacement`, which may be
    /// this list.
    ///
    /// # Errors
    /// IndexError if the range is reversed or out of bounds, unless both the range and `replacement` are empty;
    /// MemoryError. On failure the list is unchanged.
    pub fn replace_range(&self, start: i64, stop: i64, replacement: &ListObject) -> Result<()> {
        let values = replacement.to_array()?;
        let mut range = self.seq().range(start, stop)?;
        if range.is_empty() && !values.is_empty() {
            let position = self.seq().insert_position(stop)?;
            range = position..position;
        }
        // SAFETY: the copies lie in a separate array.
        unsafe { self.replace_by(range, values.as_slice()) }
    }

    /// Replaces the elements in a range within bounds by owned copies of `values`.
    ///
    /// # Errors
    /// MemoryError, only if `values` is not empty. On failure the list is unchanged.
    ///
    /// # Safety
    /// `values` must not be in this list.
    pub(in crate::containers) unsafe fn replace_by(
        &self,
        range: core::ops::Range<usize>,
        values: &[Any],
    ) -> Result<()> {
        if !values.is_empty() {
            self.make_room(values.len())?;
            // SAFETY: the list has the capacity, and one thread at a time uses it. The copies go to the end of the range; in
            // front of it the old elements leave.
            unsafe { self.seq().insert_slice_reserved(range.end, values) }
        }
        self.seq().remove_range(range);
        Ok(())
    }

    /// Reverses the order of the elements in place.
    pub fn reverse(&self) {
        self.seq().reverse();
    }

    /// Removes all elements, and keeps the block.
    pub fn clear(&self) {
        self.seq().drop_last(self.len());
    }

    /// Changes the length to `len`. Removes elements from the end, or appends None.
    ///
    /// # Errors
    /// ValueError if `len` is negative; MemoryError.
    pub fn resize(&self, len: i64) -> Result<()> {
        let Ok(target) = usize::try_from(len) else {
            plain_bail!(VALUE_ERROR, "cannot resize a List to negative size");
        };
        let present = self.len();
        if target <= present {
            self.seq().drop_last(present - target);
            return Ok(());
        }
        self.make_room(target - present)?;
        for position in present..target {
            // SAFETY: as in `push`.
            unsafe { self.seq().insert_reserved(position, Any::NONE) }
        }
        Ok(())
    }

    /// Increases the capacity to at least `capacity`. Does nothing if it is large enough, or if `capacity` is negative.
    ///
    /// # Errors
    /// MemoryError.
    pub fn reserve(&self, capacity: i64) -> Result<()> {
        match usize::try_from(capacity) {
            Ok(capacity) => self.seq().grow_block(capacity),
            Err(_) if capacity < 0 => Ok(()),
            Err(_) => self.seq().grow_block(usize::MAX),
        }
    }

    /// Copies the elements to an array, which later changes of the list do not affect.
    ///
    /// # Errors
    /// MemoryError.
    pub fn to_array(&self) -> Result<ArrayObject> {
        // SAFETY: no user callback runs while the elements are copied, and one thread at a time uses the list.
        ArrayObject::from_slice(unsafe { self.seq().as_slice() })
    }

    fn make_room(&self, extra: usize) -> Result<()> {
        match self.len().checked_add(extra) {
            Some(needed) if needed <= self.capacity() => Ok(()),
            _ => self.seq().grow_block(self.seq().grown_capacity(extra)?),
        }
    }
}

//! The untyped mutable list, which all references change in place.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::{object_class, plain_bail, type_index};

use crate::containers::array::ArrayObject;
use crate::containers::sequence::{self, Seq};

object_class!(
    /// A reference to a list object of any elements: what signatures call `ffi.List`.
    ///
    /// All references see every change. The elements lie in a block of their own, which growth replaces.
    ///
    /// Threads: a list is not synchronised. While one thread changes it, no other may use it, which the owners must ensure.
    ///
    /// # Upstream
    /// `ListObj` in `include/tvm/ffi/container/list.h`.
    pub struct ListObject, type_index::LIST, "ffi.List"
);

/// Minimum capacity of a list that is created with elements.
const LEAST_CAPACITY: usize = 4;

impl ListObject {
    /// Creates an empty list of a capacity.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        sequence::allocate_with_block(type_index::LIST, capacity).map(Self)
    }

    /// Creates a list of owned copies of `values`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_slice(values: &[Any]) -> Result<Self> {
        let list = Self::with_capacity(values.len().max(LEAST_CAPACITY))?;
        // SAFETY: the list is new, unshared and has the capacity; `values` cannot lie in it.
        unsafe { list.seq().insert_slice_reserved(0, values) }
        Ok(list)
    }

    /// Creates a list of owned values of `views`, such as the arguments of a packed call.
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

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of elements that the present block can hold.
    pub fn capacity(&self) -> usize {
        self.seq().capacity()
    }

    /// Returns the elements, in place.
    ///
    /// # Safety
    /// Nobody changes the list while the slice is in use.
    pub(crate) unsafe fn as_slice(&self) -> &[Any] {
        // SAFETY: guaranteed by the caller.
        unsafe { self.seq().as_slice() }
    }

    /// Returns an owned copy of the element at `index`.
    ///
    /// # Errors
    /// IndexError when the index is negative or not below the length.
    pub fn get(&self, index: i64) -> Result<Any> {
        self.seq().element(index)
    }

    /// Returns the element at `index`, or None beyond the end.
    pub(in crate::containers) fn element(&self, index: usize) -> Option<Any> {
        self.seq().get(index)
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    /// IndexError, see [`get`](Self::get).
    pub fn set(&self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().position(index)?;
        drop(self.seq().replace(position, value));
        Ok(())
    }

    /// Appends an element.
    ///
    /// # Errors
    /// MemoryError; the list is then unchanged.
    pub fn push(&self, value: Any) -> Result<()> {
        self.make_room(1)?;
        // SAFETY: the list has the capacity, and one thread at a time uses it.
        unsafe { self.seq().insert_reserved(self.len(), value) }
        Ok(())
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    /// IndexError when the index is negative or above the length; MemoryError.
    pub fn insert(&self, index: i64, value: Any) -> Result<()> {
        let position = self.seq().insert_position(index)?;
        self.make_room(1)?;
        // SAFETY: as in `push`.
        unsafe { self.seq().insert_reserved(position, value) }
        Ok(())
    }

    /// Removes the element at `index`. Returns it.
    ///
    /// # Errors
    /// IndexError, see [`get`](Self::get).
    pub fn remove(&self, index: i64) -> Result<Any> {
        let position = self.seq().position(index)?;
        Ok(self.seq().take(position).unwrap_or_default())
    }

    /// Removes the last element. Returns it.
    pub fn pop(&self) -> Option<Any> {
        self.seq().pop()
    }

    /// Removes the elements from `start` up to `stop`. An empty range does nothing, wherever it lies.
    ///
    /// # Errors
    /// IndexError when the range reaches outside.
    pub fn remove_range(&self, start: i64, stop: i64) -> Result<()> {
        let range = self.seq().range(start, stop)?;
        self.seq().remove_range(range);
        Ok(())
    }

    /// Replaces the elements from `start` up to `stop` by those of `replacement`, which may be this very list.
    ///
    /// # Errors
    /// IndexError when the range reaches outside, or is empty and lies outside; MemoryError. The list is unchanged
    /// then.
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

    /// Replaces the elements of a range inside the list by owned copies of `values`.
    ///
    /// # Errors
    /// MemoryError when there are values. The list is unchanged then.
    ///
    /// # Safety
    /// `values` lies outside this list.
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

    /// Reverses the order.
    pub fn reverse(&self) {
        self.seq().reverse();
    }

    /// Removes all elements; the block stays.
    pub fn clear(&self) {
        self.seq().drop_last(self.len());
    }

    /// Makes the length `len`, dropping elements from the end or filling up with None.
    ///
    /// # Errors
    /// ValueError when `len` is negative; MemoryError.
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

    /// Makes the capacity at least `capacity`; a smaller or negative number does nothing.
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

    /// Returns a snapshot of the elements that later changes do not touch.
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

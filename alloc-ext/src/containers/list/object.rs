//! Untyped mutable list, changed in place through all references.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::{BriefShared, Exclusive, Shared};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{object_class, plain_bail};

use crate::containers::array::ArrayObject;
use crate::containers::sequence::{self, Seq};

object_class!(
    /// A reference to a list object with elements of any type. Its type key, also used in
    /// signatures, is `ffi.List`.
    ///
    /// All references see every change. The elements are stored in a separate block, which growth
    /// replaces.
    ///
    /// Threads: each method borrows the list for the time of its access, shared for a read and
    /// exclusively for a change. An access that conflicts with that of another thread is a
    /// RuntimeError; nobody waits. Elements are converted and released without a borrow, so user
    /// callbacks may use the list. [`len`](Self::len), [`is_empty`](Self::is_empty) and
    /// [`capacity`](Self::capacity) need no borrow. C++ code that accesses the fields in place is
    /// not checked.
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
        // SAFETY: this type only holds lists; its methods borrow the list.
        unsafe { Seq::of(&self.0) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.seq().len_now()
    }

    /// Returns `true` if the list has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the capacity: the number of elements that fit in the current block.
    pub fn capacity(&self) -> usize {
        self.seq().capacity_now()
    }

    /// Borrows the list for copying elements.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the list.
    #[inline]
    fn read(&self) -> Result<BriefShared<'_>> {
        // SAFETY: the callers only copy elements.
        unsafe { BriefShared::of(&self.0) }
    }

    /// Borrows the list for a change. Neither elements nor values are released during the borrow.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    #[inline]
    fn write(&self) -> Result<Exclusive<&ObjectRef>> {
        Exclusive::of(&self.0)
    }

    /// Borrows the elements. Changes are refused until the guard is dropped.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the list.
    pub(crate) fn elements(&self) -> Result<BorrowedElements<'_>> {
        let borrow = Shared::of(&self.0)?;
        // SAFETY: the borrow, which lives as long as the slice, excludes writers.
        Ok(BorrowedElements { elements: unsafe { self.seq().as_slice() }, _borrow: Some(borrow) })
    }

    /// Returns an owned copy of the element at `index`.
    ///
    /// # Errors
    /// IndexError if the index is negative or not below the length; RuntimeError if another thread
    /// is changing the list.
    pub fn get(&self, index: i64) -> Result<Any> {
        let _borrow = self.read()?;
        self.seq().element(index)
    }

    /// Returns an owned copy of the element at `index`; `None` beyond the end.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the list.
    #[inline]
    pub(crate) fn element(&self, index: usize) -> Result<Option<Any>> {
        let _borrow = self.read()?;
        Ok(self.seq().get(index))
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
    /// IndexError like [`get`](Self::get); RuntimeError if another thread is using the list.
    pub fn set(&self, index: i64, value: Any) -> Result<()> {
        let replaced = {
            let _borrow = self.write()?;
            let position = self.seq().position(index)?;
            self.seq().replace(position, value)
        };
        drop(replaced);
        Ok(())
    }

    /// Appends an element.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list; MemoryError. On failure the list is
    /// unchanged.
    #[inline]
    pub fn push(&self, value: Any) -> Result<()> {
        let _borrow = self.write()?;
        self.make_room(1)?;
        // SAFETY: the list has the capacity and is borrowed.
        unsafe { self.seq().insert_reserved(self.seq().len(), value) }
        Ok(())
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
    /// IndexError if the index is negative or above the length; errors of [`push`](Self::push).
    pub fn insert(&self, index: i64, value: Any) -> Result<()> {
        let _borrow = self.write()?;
        let position = self.seq().insert_position(index)?;
        self.make_room(1)?;
        // SAFETY: as in `push`.
        unsafe { self.seq().insert_reserved(position, value) }
        Ok(())
    }

    /// Removes and returns the element at `index`.
    ///
    /// # Errors
    /// Errors of [`set`](Self::set).
    pub fn remove(&self, index: i64) -> Result<Any> {
        let _borrow = self.write()?;
        let position = self.seq().position(index)?;
        Ok(self.seq().take(position).unwrap_or_default())
    }

    /// Removes and returns the last element; `None` if the list is empty.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    pub fn pop(&self) -> Result<Option<Any>> {
        let _borrow = self.write()?;
        Ok(self.seq().pop())
    }

    /// Removes the elements from `start` up to `stop`, exclusive. Does nothing for an empty range,
    /// even one out of bounds.
    ///
    /// # Errors
    /// IndexError if the range is reversed or out of bounds; RuntimeError if another thread is
    /// using the list; MemoryError, since the elements are released after the borrow. On failure
    /// the list is unchanged.
    pub fn remove_range(&self, start: i64, stop: i64) -> Result<()> {
        let mut removed = Buffer::new();
        {
            let _borrow = self.write()?;
            let range = self.seq().range(start, stop)?;
            removed.try_reserve(range.len())?;
            self.seq().move_range_to(range, &mut removed);
        }
        drop(removed);
        Ok(())
    }

    /// Replaces the elements from `start` up to `stop`, exclusive, by copies of the elements of
    /// `replacement`, which may be this list.
    ///
    /// # Errors
    /// IndexError if the range is reversed or out of bounds, unless both the range and
    /// `replacement` are empty; RuntimeError if another thread is using the list, or changing
    /// `replacement`; MemoryError. On failure the list is unchanged.
    pub fn replace_range(&self, start: i64, stop: i64, replacement: &ListObject) -> Result<()> {
        let values = replacement.to_array()?;
        self.replace_by(values.as_slice(), |seq| {
            let range = seq.range(start, stop)?;
            if range.is_empty() && !values.is_empty() {
                let position = seq.insert_position(stop)?;
                return Ok(position..position);
            }
            Ok(range)
        })
    }

    /// Replaces the elements in the range that `range` returns, within bounds, by owned copies of
    /// `values`.
    ///
    /// # Errors
    /// Errors of `range`; RuntimeError if another thread is using the list; MemoryError. On failure
    /// the list is unchanged.
    pub(in crate::containers) fn replace_by(
        &self,
        values: &[Any],
        range: impl FnOnce(Seq<'_>) -> Result<core::ops::Range<usize>>,
    ) -> Result<()> {
        let mut removed = Buffer::new();
        {
            let _borrow = self.write()?;
            let range = range(self.seq())?;
            removed.try_reserve(range.len())?;
            if !values.is_empty() {
                self.make_room(values.len())?;
                // SAFETY: the list has the capacity and is borrowed, so that `values` are not in
                // it. They go to the end of the range; in front of them the old elements leave.
                unsafe { self.seq().insert_slice_reserved(range.end, values) }
            }
            self.seq().move_range_to(range, &mut removed);
        }
        drop(removed);
        Ok(())
    }

    /// Reverses the order of the elements in place.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    pub fn reverse(&self) -> Result<()> {
        let _borrow = self.write()?;
        self.seq().reverse();
        Ok(())
    }

    /// Removes all elements, and keeps the block, unless the list gets another block while the
    /// elements are released.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list.
    pub fn clear(&self) -> Result<()> {
        let (block, mut len) = {
            let _borrow = self.write()?;
            self.seq().take_block()
        };
        // SAFETY: the block has `len` elements, which are ours.
        while unsafe { block.pop(&mut len) }.is_some() {}
        let is_kept = self.write().is_ok_and(|_borrow| self.seq().give_block(block));
        if !is_kept {
            // SAFETY: the block is empty and ours.
            unsafe { block.release() }
        }
        Ok(())
    }

    /// Changes the length to `len`. Removes elements from the end, or appends None.
    ///
    /// # Errors
    /// ValueError if `len` is negative; RuntimeError if another thread is using the list;
    /// MemoryError. On failure the list is unchanged.
    pub fn resize(&self, len: i64) -> Result<()> {
        let Ok(target) = usize::try_from(len) else {
            plain_bail!(VALUE_ERROR, "cannot resize a List to negative size");
        };
        let mut removed = Buffer::new();
        {
            let _borrow = self.write()?;
            let present = self.seq().len();
            if target <= present {
                removed.try_reserve(present - target)?;
                self.seq().move_range_to(target..present, &mut removed);
            } else {
                self.make_room(target - present)?;
            }
            for position in present..target {
                // SAFETY: as in `push`.
                unsafe { self.seq().insert_reserved(position, Any::NONE) }
            }
        }
        drop(removed);
        Ok(())
    }

    /// Increases the capacity to at least `capacity`. Does nothing if it is large enough, or if
    /// `capacity` is negative.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the list; MemoryError.
    pub fn reserve(&self, capacity: i64) -> Result<()> {
        let _borrow = self.write()?;
        match usize::try_from(capacity) {
            Ok(capacity) => self.seq().grow_block(capacity),
            Err(_) if capacity < 0 => Ok(()),
            Err(_) => self.seq().grow_block(usize::MAX),
        }
    }

    /// Copies the elements to an array, which later changes of the list do not affect.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the list; MemoryError.
    pub fn to_array(&self) -> Result<ArrayObject> {
        ArrayObject::from_slice(&self.elements()?)
    }

    /// Grows the block so that `extra` more elements fit. The list must be borrowed.
    #[inline]
    fn make_room(&self, extra: usize) -> Result<()> {
        match self.seq().len().checked_add(extra) {
            Some(needed) if needed <= self.seq().capacity() => Ok(()),
            _ => self.grow(extra),
        }
    }

    /// Second part of [`make_room`](Self::make_room), apart from it so that `push` is inlined.
    #[cold]
    #[inline(never)]
    fn grow(&self, extra: usize) -> Result<()> {
        self.seq().grow_block(self.seq().grown_capacity(extra)?)
    }
}

/// Elements that do not change: those of an Array, or of a List under a shared borrow.
pub(crate) struct BorrowedElements<'a> {
    elements: &'a [Any],
    _borrow: Option<Shared<&'a ObjectRef>>,
}

impl<'a> From<&'a [Any]> for BorrowedElements<'a> {
    #[inline]
    fn from(elements: &'a [Any]) -> Self {
        Self { elements, _borrow: None }
    }
}

impl core::ops::Deref for BorrowedElements<'_> {
    type Target = [Any];

    #[inline]
    fn deref(&self) -> &[Any] {
        self.elements
    }
}

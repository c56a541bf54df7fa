//! Raw operations on the element cells of an Array or List.

use core::marker::PhantomData;

use ferrite_core::abi::{TVMFFIAny, TVMFFISeqCell};
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::atomic::{Ordering, size_word};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{error, plain_bail, plain_error};

use super::record::{SeqRecord, count};
use crate::containers::cell;

/// Converts an index to the ABI's signed type. Too large indices become `i64::MAX`, which is always
/// out of bounds.
pub(crate) fn position_of(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// Reverses a slice in a few bytes of code. The `reverse` of `core` adds panics when compiled for
/// size.
pub(crate) fn reverse<T>(values: &mut [T]) {
    let mut values = values.iter_mut();
    while let (Some(first), Some(last)) = (values.next(), values.next_back()) {
        core::mem::swap(first, last);
    }
}

#[cold]
fn out_of_bounds(index: i64, len: usize) -> Error {
    plain_error!(INDEX_ERROR, "Index {} out of bounds {}", &index, len)
}

/// A borrowed sequence object, with raw access to its cells.
///
/// No Rust reference to the record or its cells outlives a call, since other code, such as C++, may
/// write to both. Callers of methods of a List hold a borrow, exclusive for a change, or are its
/// only owner; an Array changes only through its only reference. Without a borrow, only
/// [`len_now`](Self::len_now) and [`capacity_now`](Self::capacity_now) may be called.
#[derive(Clone, Copy)]
pub(crate) struct Seq<'a> {
    record: *mut SeqRecord,
    object: PhantomData<&'a ObjectRef>,
}

impl<'a> Seq<'a> {
    /// Returns raw access to the sequence of an object.
    ///
    /// # Safety
    /// `object` must be an Array or a List. The caller borrows a List while it calls the methods,
    /// as the type requires.
    #[inline]
    pub(crate) unsafe fn of(object: &'a ObjectRef) -> Self {
        Self { record: object.as_ptr().cast(), object: PhantomData }
    }

    #[inline]
    pub(super) fn cell(self) -> *mut TVMFFISeqCell {
        // SAFETY: the record is alive for 'a; only the field's address is taken.
        unsafe { &raw mut (*self.record).cell }
    }

    /// Returns the number of elements. A negative number, which only a faulty client writes,
    /// becomes 0.
    #[inline]
    pub(crate) fn len(self) -> usize {
        // SAFETY: the record is alive for 'a, and the borrow excludes writers.
        count(unsafe { (*self.cell()).size } as usize)
    }

    /// Returns the number of cells in the storage.
    #[inline]
    pub(crate) fn capacity(self) -> usize {
        // SAFETY: the record is alive for 'a, and the borrow excludes writers.
        count(unsafe { (*self.cell()).capacity } as usize)
    }

    /// Returns the number of elements, without a borrow.
    #[inline]
    pub(crate) fn len_now(self) -> usize {
        // SAFETY: the record is alive for 'a, and the field is written atomically.
        count(unsafe { size_word(&raw mut (*self.cell()).size) }.load(Ordering::Relaxed))
    }

    /// Returns the number of cells in the storage, without a borrow.
    #[inline]
    pub(crate) fn capacity_now(self) -> usize {
        // SAFETY: the record is alive for 'a, and the field is written atomically.
        count(unsafe { size_word(&raw mut (*self.cell()).capacity) }.load(Ordering::Relaxed))
    }

    /// Returns the address of the first cell; null or dangling if there is no storage.
    #[inline]
    pub(crate) fn cells(self) -> *mut TVMFFIAny {
        // SAFETY: the record is alive for 'a.
        unsafe { (*self.cell()).data.cast() }
    }

    #[inline]
    pub(super) fn set_len(self, len: usize) {
        // SAFETY: the record is alive for 'a. Other threads may read the field meanwhile.
        unsafe { size_word(&raw mut (*self.cell()).size) }.store(len, Ordering::Relaxed);
    }

    /// Returns the elements as a slice.
    ///
    /// # Safety
    /// The sequence must not change while the slice is in use.
    #[inline]
    pub(crate) unsafe fn as_slice(self) -> &'a [Any] {
        let (cells, len) = (self.cells(), self.len());
        if cells.is_null() || len == 0 {
            return &[];
        }
        // SAFETY: `len` initialised cells start at `cells`; Any has the layout of a cell; the
        // caller excludes writers.
        unsafe { core::slice::from_raw_parts(cells.cast::<Any>(), len) }
    }

    /// Returns an owned copy of the element at `index`; `None` beyond the end.
    #[inline]
    pub(crate) fn get(self, index: usize) -> Option<Any> {
        if index >= self.len() {
            return None;
        }
        // SAFETY: the cell is initialised.
        Some(unsafe { cell::copy_of(self.cells().add(index)) })
    }

    /// Returns a view of the element at `index`, in place; `None` beyond the end.
    ///
    /// # Safety
    /// The sequence must not change while the view is in use.
    #[inline]
    pub(crate) unsafe fn borrow(self, index: usize) -> Option<&'a AnyView<'a>> {
        // SAFETY: cells below the length are initialised; the caller excludes writers.
        (index < self.len()).then(|| unsafe { AnyView::in_place(&*self.cells().add(index)) })
    }

    /// Returns an owned copy of the element at `index`.
    ///
    /// # Errors
    /// Errors of [`position`](Self::position).
    #[inline]
    pub(crate) fn element(self, index: i64) -> Result<Any> {
        let position = self.position(index)?;
        // SAFETY: the cell is initialised.
        Ok(unsafe { cell::copy_of(self.cells().add(position)) })
    }

    /// Checks the index of an element, and converts it to an unsigned position.
    ///
    /// # Errors
    /// IndexError if the index is negative or not below the length.
    #[inline]
    pub(crate) fn position(self, index: i64) -> Result<usize> {
        let len = self.len();
        match usize::try_from(index) {
            Ok(position) if position < len => Ok(position),
            _ => Err(out_of_bounds(index, len)),
        }
    }

    /// Checks the index of an insertion, and converts it to an unsigned position.
    ///
    /// # Errors
    /// IndexError if the index is negative or above the length.
    #[inline]
    pub(crate) fn insert_position(self, index: i64) -> Result<usize> {
        let len = self.len();
        match usize::try_from(index) {
            Ok(position) if position <= len => Ok(position),
            _ => plain_bail!(INDEX_ERROR, "Index {} out of bounds [0, {}]", &index, len),
        }
    }

    /// Checks the range `start..stop` of a removal, and converts it to unsigned positions. An empty
    /// range becomes `0..0`, even one out of bounds.
    ///
    /// # Errors
    /// IndexError if the range is reversed or out of bounds.
    pub(crate) fn range(self, start: i64, stop: i64) -> Result<core::ops::Range<usize>> {
        if start == stop {
            return Ok(0..0);
        }
        let len = self.len();
        match (usize::try_from(start), usize::try_from(stop)) {
            (Ok(first), Ok(last)) if first < last && last <= len => Ok(first..last),
            _ => plain_bail!(
                INDEX_ERROR,
                "Erase range [{}, {}) out of bounds {}",
                &start,
                &stop,
                len
            ),
        }
    }

    /// Returns the new capacity for growth by `extra` elements: twice the current capacity, or more
    /// if needed.
    ///
    /// # Errors
    /// MemoryError if the number of elements overflows.
    pub(crate) fn grown_capacity(self, extra: usize) -> Result<usize> {
        let needed =
            self.len().checked_add(extra).ok_or_else(|| error::out_of_memory(usize::MAX))?;
        Ok(self.capacity().saturating_mul(2).max(needed))
    }

    /// Replaces the element at `position`, which must be below the length. Returns the old element.
    #[inline]
    pub(crate) fn replace(self, position: usize, value: Any) -> Any {
        debug_assert!(position < self.len());
        // SAFETY: the position lies below the length; each of the two values has one owner before
        // and after.
        unsafe {
            let cell = self.cells().add(position);
            let old = cell::take(cell);
            cell.write(value.into_raw());
            old
        }
    }

    /// Inserts `value` before `position`, which is at most the length.
    ///
    /// # Safety
    /// The capacity must be larger than the length, and nothing else may use the sequence now.
    #[inline]
    pub(crate) unsafe fn insert_reserved(self, position: usize, value: Any) {
        let len = self.len();
        debug_assert!(position <= len && len < self.capacity());
        // SAFETY: one more cell fits; the cells from `position` on move up by one.
        unsafe {
            let cell = self.cells().add(position);
            core::ptr::copy(cell, cell.add(1), len - position);
            cell.write(value.into_raw());
        }
        self.set_len(len + 1);
    }

    /// Inserts owned copies of `values` before `position`, which is at most the length.
    ///
    /// # Safety
    /// The contract of [`insert_reserved`](Self::insert_reserved), with capacity for all values.
    /// `values` must not be in this sequence.
    pub(crate) unsafe fn insert_slice_reserved(self, position: usize, values: &[Any]) {
        let len = self.len();
        debug_assert!(position <= len && len + values.len() <= self.capacity());
        // SAFETY: the cells from `position` on move up and leave a gap that the loop fills.
        unsafe {
            let gap = self.cells().add(position);
            core::ptr::copy(gap, gap.add(values.len()), len - position);
            for (offset, value) in values.iter().enumerate() {
                cell::share(value.as_raw(), gap.add(offset));
            }
        }
        self.set_len(len + values.len());
    }

    /// Appends bitwise copies of `values`.
    ///
    /// # Safety
    /// The contract of [`insert_reserved`](Self::insert_reserved), with capacity for all values.
    /// The caller must forget `values`.
    pub(crate) unsafe fn push_words_reserved(self, values: &[Any]) {
        let len = self.len();
        debug_assert!(len + values.len() <= self.capacity());
        // SAFETY: the caller guarantees the capacity; Any is transparent over a cell.
        unsafe {
            let target = self.cells().add(len).cast::<Any>();
            target.copy_from_nonoverlapping(values.as_ptr(), values.len());
        }
        self.set_len(len + values.len());
    }

    /// Appends owned copies of the values of `views`. On failure the values before the failed one
    /// stay appended.
    ///
    /// # Errors
    /// Errors of [`cell::write_own`].
    ///
    /// # Safety
    /// Same requirements as [`insert_reserved`](Self::insert_reserved), with capacity for all
    /// values.
    pub(crate) unsafe fn push_views_reserved(self, views: &[AnyView<'_>]) -> Result<()> {
        let len = self.len();
        debug_assert!(len + views.len() <= self.capacity());
        let cells = self.cells();
        for (offset, view) in views.iter().enumerate() {
            // SAFETY: the caller guarantees the capacity.
            if let Err(error) = unsafe { cell::write_own(view, cells.add(len + offset)) } {
                self.set_len(len + offset);
                return Err(error);
            }
        }
        self.set_len(len + views.len());
        Ok(())
    }

    /// Removes and returns the last element; `None` if the sequence is empty.
    #[inline]
    pub(crate) fn pop(self) -> Option<Any> {
        let last = self.len().checked_sub(1)?;
        self.set_len(last);
        // SAFETY: the cell was initialised and is now outside the sequence, so its value has moved
        // to us.
        Some(unsafe { cell::take(self.cells().add(last)) })
    }

    /// Removes and returns the element at `position`; `None` beyond the end.
    pub(crate) fn take(self, position: usize) -> Option<Any> {
        let last = self.len().checked_sub(1).filter(|last| position <= *last)?;
        // SAFETY: the cell is initialised; those behind it move down by one, so that each value has
        // one owner.
        let taken = unsafe {
            let cell = self.cells().add(position);
            let taken = cell::take(cell);
            core::ptr::copy(cell.add(1), cell, last - position);
            taken
        };
        self.set_len(last);
        Some(taken)
    }

    /// Removes the elements in a range within bounds.
    ///
    /// Releasing an element may run user callbacks that change the sequence; the sequence is in a
    /// consistent state then.
    pub(crate) fn remove_range(self, range: core::ops::Range<usize>) {
        let count = range.len();
        self.rotate_to_end(range);
        self.drop_last(count);
    }

    /// Removes up to `count` elements from the end, starting with the last.
    pub(crate) fn drop_last(self, count: usize) {
        for _ in 0..count {
            if self.pop().is_none() {
                return;
            }
        }
    }

    /// Moves the elements in a range within bounds to `removed`, the last one first, which must
    /// have the capacity.
    pub(crate) fn move_range_to(self, range: core::ops::Range<usize>, removed: &mut Buffer<Any>) {
        let count = range.len();
        self.rotate_to_end(range);
        for _ in 0..count {
            let Some(element) = self.pop() else { return };
            // There is capacity; an element that found none would be released here.
            let _ = removed.try_push(element);
        }
    }

    fn rotate_to_end(self, range: core::ops::Range<usize>) {
        let len = self.len();
        if range.start < range.end && range.end <= len {
            // SAFETY: the cells from `range.start` on are initialised plain words; no user callback
            // runs in between.
            let tail = unsafe {
                core::slice::from_raw_parts_mut(self.cells().add(range.start), len - range.start)
            };
            // Three reversals take less code than a rotation.
            if let Some((first, rest)) = tail.split_at_mut_checked(range.end - range.start) {
                reverse(first);
                reverse(rest);
                reverse(tail);
            }
        }
    }

    /// Reverses the order of the elements in place.
    pub(crate) fn reverse(self) {
        let len = self.len();
        if len > 1 {
            // SAFETY: the cells are initialised plain words; no user callback runs in between.
            reverse(unsafe { core::slice::from_raw_parts_mut(self.cells(), len) });
        }
    }

    /// Moves all cells to `target`, which must be empty and have enough capacity. This sequence is
    /// empty afterwards.
    ///
    /// # Safety
    /// Nothing else may use either sequence.
    pub(crate) unsafe fn move_cells_to(self, target: Seq<'_>) {
        let len = self.len();
        debug_assert!(target.len() == 0 && len <= target.capacity());
        if len > 0 {
            // SAFETY: two storages, `len` cells each; ownership moves with the lengths below.
            unsafe { core::ptr::copy_nonoverlapping(self.cells(), target.cells(), len) }
        }
        self.set_len(0);
        target.set_len(len);
    }
}

//! The copy-on-write array of any elements.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object_alloc::{Apart, Space};
use ferrite_core::{object_class, plain_bail, type_index};

use crate::containers::sequence::{self, Seq};

object_class!(
    /// A reference to an array object of any elements: what signatures call `ffi.Array`.
    ///
    /// The elements lie in the object itself. A change through one reference is never seen through another: while the
    /// object is shared, the first change copies it, and growth moves the elements to a new object.
    ///
    /// Elements are shared with copies; copying costs one count per element.
    ///
    /// # Upstream
    /// `ArrayObj` in `include/tvm/ffi/container/array.h`.
    pub struct ArrayObject, type_index::ARRAY, "ffi.Array"
);

impl ArrayObject {
    /// Creates an empty array with room for `capacity` elements.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        Self::with_capacity_in(capacity, &mut Apart)
    }

    /// As [`with_capacity`](Self::with_capacity), in a space.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub(crate) fn with_capacity_in(capacity: usize, space: &mut impl Space) -> Result<Self> {
        sequence::allocate_in_place(type_index::ARRAY, capacity, space).map(Self)
    }

    /// Creates an array of own copies of `values`, with no room to spare.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub fn from_slice(values: &[Any]) -> Result<Self> {
        Self::from_slice_in(values, &mut Apart)
    }

    /// As [`from_slice`](Self::from_slice), in a space.
    ///
    /// # Errors
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
    /// IndexError when the index is negative or not below the length.
    pub fn get(&self, index: i64) -> Result<&Any> {
        let position = self.seq().position(index)?;
        // SAFETY: the position is below the length, and Any has the layout of a cell; as for `as_slice`.
        Ok(unsafe { &*self.seq().cells().add(position).cast::<Any>() })
    }

    /// Replaces the element at `index`.
    ///
    /// # Errors
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
    /// MemoryError when the memory is not there.
    pub fn push(&mut self, value: Any) -> Result<()> {
        self.make_room(1)?;
        // SAFETY: the array is unshared and has the room.
        unsafe { self.seq().insert_reserved(self.len(), value) }
        Ok(())
    }

    /// Appends an element where that takes no memory, because there is room and nobody else has the array; tells whether.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "size counts there"))]
    pub(crate) fn push_in_place(&mut self, value: &Any) -> bool {
        let fits = self.len() < self.capacity() && self.0.is_unique();
        if fits {
            // SAFETY: the array is unshared and has the room.
            unsafe { self.seq().insert_reserved(self.len(), value.clone()) }
        }
        fits
    }

    /// Inserts an element before `index`, which may be the length.
    ///
    /// # Errors
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
    /// IndexError as for [`get`](Self::get); MemoryError when the copy of a shared array finds no memory.
    pub fn remove(&mut self, index: i64) -> Result<Any> {
        let position = self.seq().position(index)?;
        self.make_unique()?;
        Ok(self.seq().take(position).unwrap_or_default())
    }

    /// Removes the last element and returns it.
    ///
    /// # Errors
    /// MemoryError when the copy of a shared array finds no memory.
    pub fn pop(&mut self) -> Result<Option<Any>> {
        self.make_unique()?;
        Ok(self.seq().pop())
    }

    /// Removes the elements from `start` up to `stop`. An empty range does nothing, wherever it lies.
    ///
    /// # Errors
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

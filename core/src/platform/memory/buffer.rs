//! A growable array with fallible growth, used instead of `alloc::vec::Vec`.

use super::AllocError;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use core::{fmt, slice};

/// A contiguous, growable array of `T`: a vector with fallible growth.
///
/// Methods that grow the buffer return an [`AllocError`] when out of memory, and then leave it
/// unchanged.
///
/// Ownership: owns its elements and its block. Threads: `Send` and `Sync` if `T` is. Allocation:
/// none while empty; capacity doubles.
pub struct Buffer<T> {
    raw: RawBuffer,
    owns: PhantomData<T>,
}

// SAFETY: a buffer owns its elements; the block has no other owner.
unsafe impl<T: Send> Send for Buffer<T> {}
// SAFETY: a shared buffer gives shared elements only.
unsafe impl<T: Sync> Sync for Buffer<T> {}

impl<T> Buffer<T> {
    const ELEMENT: Layout = {
        assert!(size_of::<T>() != 0, "a buffer of nothing has no length in bytes");
        Layout::new::<T>()
    };

    /// Returns the address of element `at`, which may be one past the last.
    ///
    /// # Safety
    /// `at` must not exceed the capacity.
    const unsafe fn place(&self, at: usize) -> NonNull<T> {
        // SAFETY: the caller promises that `at` is within the block.
        unsafe { self.raw.block.cast::<T>().add(at) }
    }

    /// Creates an empty buffer, which owns no memory.
    pub const fn new() -> Self {
        let raw = RawBuffer { block: NonNull::<T>::dangling().cast(), capacity: 0, len: 0 };
        Self { raw, owns: PhantomData }
    }

    /// Creates an empty buffer with a capacity of exactly `capacity` elements.
    ///
    /// # Errors
    /// [`AllocError`] when out of memory.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError> {
        let mut buffer = Self::new();
        if capacity != 0 {
            buffer.raw.reallocate(capacity, Self::ELEMENT)?;
        }
        Ok(buffer)
    }

    /// Returns the number of elements that fit without growing.
    pub const fn capacity(&self) -> usize {
        self.raw.capacity
    }

    /// Borrows the elements.
    pub const fn as_slice(&self) -> &[T] {
        // SAFETY: the first `len` elements are initialised, and the borrow of `self` guards them.
        unsafe { slice::from_raw_parts(self.raw.block.cast().as_ptr(), self.raw.len) }
    }

    /// Borrows the elements mutably.
    pub const fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as `as_slice`, exclusively.
        unsafe { slice::from_raw_parts_mut(self.raw.block.cast().as_ptr(), self.raw.len) }
    }

    /// Reserves capacity for `additional` more elements. The error is not an object, so the caller
    /// may hold a lock.
    ///
    /// # Errors
    /// [`AllocError`] when the size overflows or out of memory.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError> {
        self.raw.reserve(additional, Self::ELEMENT)
    }

    /// Reserves capacity as [`try_reserve`](Self::try_reserve) does.
    ///
    /// # Errors
    /// The error of [`try_reserve`](Self::try_reserve).
    pub fn reserve_silently(&mut self, additional: usize) -> Result<(), AllocError> {
        self.try_reserve(additional)
    }

    /// Appends an element. On failure the element is dropped.
    ///
    /// # Errors
    /// The error of [`try_reserve`](Self::try_reserve).
    pub fn try_push(&mut self, element: T) -> Result<(), AllocError> {
        self.try_spare_slot()?.fill(element);
        Ok(())
    }

    /// Reserves a slot for one more element at the end.
    ///
    /// # Errors
    /// The error of [`try_reserve`](Self::try_reserve).
    #[inline]
    pub fn try_spare_slot(&mut self) -> Result<SpareSlot<'_, T>, AllocError> {
        self.try_reserve(1)?;
        Ok(SpareSlot(self))
    }

    /// Appends copies of all `elements`, or none.
    ///
    /// # Errors
    /// The error of [`try_reserve`](Self::try_reserve).
    pub fn try_extend_from_slice(&mut self, elements: &[T]) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.try_reserve(elements.len())?;
        // SAFETY: the capacity is reserved; `elements` cannot overlap this block, which is borrowed
        // exclusively.
        unsafe {
            ptr::copy_nonoverlapping(
                elements.as_ptr(),
                self.place(self.raw.len).as_ptr(),
                elements.len(),
            )
        };
        self.raw.len += elements.len();
        Ok(())
    }

    /// Truncates the buffer to `len` elements, or extends it with copies of `element`.
    ///
    /// # Errors
    /// The error of [`try_reserve`](Self::try_reserve).
    pub fn try_resize(&mut self, len: usize, element: T) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.truncate(len);
        self.try_reserve(len - self.raw.len)?;
        while self.raw.len < len {
            // SAFETY: capacity for `len` elements was reserved above.
            unsafe { self.place(self.raw.len).write(element) };
            self.raw.len += 1;
        }
        Ok(())
    }

    /// Removes and returns the last element, or returns `None` if the buffer is empty.
    pub fn pop(&mut self) -> Option<T> {
        self.raw.len = self.raw.len.checked_sub(1)?;
        // SAFETY: the element was within the length, which no longer covers it.
        Some(unsafe { self.place(self.raw.len).read() })
    }

    /// Removes and returns the element at `at`, and shifts the later elements down. Returns `None`
    /// if `at` is out of bounds.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        if at >= self.raw.len {
            return None;
        }
        self.as_mut_slice().get_mut(at..)?.rotate_left(1);
        self.pop()
    }

    /// Removes and returns the element at `at`, and moves the last element there. Returns `None` if
    /// `at` is out of bounds.
    pub fn swap_remove(&mut self, at: usize) -> Option<T> {
        let last = self.raw.len.checked_sub(1).filter(|last| at <= *last)?;
        self.as_mut_slice().swap(at, last);
        self.pop()
    }

    /// Drops all elements from index `len` on. The capacity is unchanged.
    pub fn truncate(&mut self, len: usize) {
        if len < self.raw.len {
            // SAFETY: the length is within the block.
            let first = unsafe { self.place(len) }.as_ptr();
            let tail = ptr::slice_from_raw_parts_mut(first, self.raw.len - len);
            // The length is set first, so that a destructor that reads the buffer sees no dead
            // elements.
            self.raw.len = len;
            // SAFETY: the tail was initialised and the length no longer covers it.
            unsafe { ptr::drop_in_place(tail) };
        }
    }

    /// Shortens the buffer to at most `len` elements, without dropping the others, which must have
    /// been moved out.
    pub fn forget_from(&mut self, len: usize) {
        self.raw.len = self.raw.len.min(len);
    }

    /// Drops all elements. The capacity is unchanged.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Removes the elements for which `keep` returns `false`, and keeps the order of the others.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut kept = 0;
        for at in 0..self.raw.len {
            if self.as_slice().get(at).is_some_and(&mut keep) {
                self.as_mut_slice().swap(kept, at);
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// Returns the address, length and capacity of the block, which the caller then owns. If the
    /// capacity is 0, the address is not that of a block of [`crate::platform::memory`].
    pub fn into_raw_parts(self) -> (NonNull<T>, usize, usize) {
        let buffer = ManuallyDrop::new(self);
        (buffer.raw.block.cast(), buffer.raw.len, buffer.raw.capacity)
    }

    /// Creates a buffer from the parts returned by [`Buffer::into_raw_parts`], and takes ownership
    /// of them.
    ///
    /// # Safety
    /// The parts must come from `into_raw_parts`, or be a block of [`crate::platform::memory`] for
    /// `capacity` elements, the first `len` of which are initialised. The caller must no longer use
    /// them.
    pub const unsafe fn from_raw_parts(block: NonNull<T>, len: usize, capacity: usize) -> Self {
        Self { raw: RawBuffer { block: block.cast(), capacity, len }, owns: PhantomData }
    }
}

/// A reserved slot after the last element of a [`Buffer`]. Filling it cannot fail, so compilers
/// construct the element in place.
pub struct SpareSlot<'b, T>(&'b mut Buffer<T>);

impl<'b, T> SpareSlot<'b, T> {
    /// Appends the element and returns a reference to it.
    #[inline(always)]
    pub fn fill(self, element: T) -> &'b mut T {
        let Self(buffer) = self;
        // SAFETY: the slot is reserved, and the buffer is borrowed exclusively.
        let place = unsafe {
            let mut place = buffer.place(buffer.raw.len);
            place.write(element);
            place.as_mut()
        };
        buffer.raw.len += 1;
        place
    }
}

/// The untyped part of a buffer, shared by all element types. Its methods take the layout of an
/// element, which must always be the same.
struct RawBuffer {
    block: NonNull<u8>,
    capacity: usize,
    len: usize,
}

impl RawBuffer {
    /// Reserves capacity for `additional` more elements.
    #[inline]
    fn reserve(&mut self, additional: usize, element: Layout) -> Result<(), AllocError> {
        if additional <= self.capacity - self.len {
            return Ok(());
        }
        self.grow(additional, element)
    }

    /// Reallocates the block for `additional` more elements, which exceed the capacity.
    #[cold]
    fn grow(&mut self, additional: usize, element: Layout) -> Result<(), AllocError> {
        let needed = self.len.checked_add(additional).ok_or(AllocError::new(usize::MAX))?;
        // Four elements at first: most lists of fields and names are short.
        self.reallocate(needed.max(self.capacity.saturating_mul(2)).max(4), element)
    }

    /// Moves the elements to a block for `capacity` elements. The capacity must be positive and at
    /// least the length.
    fn reallocate(&mut self, capacity: usize, element: Layout) -> Result<(), AllocError> {
        let (old_bytes, bytes) =
            (self.capacity * element.size(), capacity.saturating_mul(element.size()));
        // SAFETY: the old block has `old_bytes` bytes, and the new one takes over its elements.
        let block =
            unsafe { super::allocate_instead(self.block, old_bytes, bytes, element.align()) };
        self.block = block.ok_or(AllocError::new(bytes))?;
        self.capacity = capacity;
        Ok(())
    }

    /// Frees the block, if any.
    ///
    /// # Safety
    /// The caller must replace the block or forget the buffer, and must have dropped or moved the
    /// elements.
    unsafe fn release_block(&mut self, element: Layout) {
        if self.capacity != 0 {
            // SAFETY: the block was allocated with this layout, so its size did not overflow; the
            // caller's promise covers its elements.
            unsafe {
                let layout = Layout::from_size_align_unchecked(
                    self.capacity * element.size(),
                    element.align(),
                );
                super::release(self.block, layout);
            }
        }
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.clear();
        // SAFETY: the elements are dropped, and the buffer ends here.
        unsafe { self.raw.release_block(Self::ELEMENT) };
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Appends text. [`fmt::Error`] means out of memory.
impl fmt::Write for Buffer<u8> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.try_extend_from_slice(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// An owning iterator over the elements of a buffer. Drops the remaining elements when it is
/// dropped.
pub struct IntoIter<T> {
    rest: Buffer<T>,
    next: usize,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.rest.raw.len {
            return None;
        }
        self.next += 1;
        // SAFETY: the element is initialised and, since `next` advanced, neither read again nor
        // dropped.
        Some(unsafe { self.rest.place(self.next - 1).read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.raw.len - self.next, Some(self.rest.raw.len - self.next))
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> Drop for IntoIter<T> {
    fn drop(&mut self) {
        let taken = self.next;
        // SAFETY: `taken` is within the length.
        let first = unsafe { self.rest.place(taken) }.as_ptr();
        let rest = ptr::slice_from_raw_parts_mut(first, self.rest.raw.len - taken);
        self.rest.raw.len = 0;
        // SAFETY: these elements are initialised, and the buffer, now empty, no longer covers them.
        unsafe { ptr::drop_in_place(rest) };
    }
}

impl<T> IntoIterator for Buffer<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rest: self, next: 0 }
    }
}

impl<'a, T> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::fmt::Write;
    use std::rc::Rc;

    fn numbers(count: u32) -> Buffer<u32> {
        let mut buffer = Buffer::new();
        (0..count).for_each(|number| buffer.try_push(number).unwrap());
        buffer
    }

    #[test]
    fn pushes_grow_by_doubling() {
        let mut buffer = Buffer::new();
        let mut capacities = std::vec::Vec::new();
        for number in 0..20 {
            buffer.try_push(number).unwrap();
            capacities.push(buffer.capacity());
        }
        capacities.dedup();
        assert_eq!(capacities, [4, 8, 16, 32]);
        assert!(buffer.iter().copied().eq(0..20));
    }

    #[test]
    fn every_element_is_dropped_once() {
        let witness = Rc::new(());
        let mut buffer = Buffer::new();
        (0..10).for_each(|_| buffer.try_push(witness.clone()).unwrap());
        assert_eq!(Rc::strong_count(&witness), 11);
        drop(buffer.pop());
        drop(buffer.remove(3));
        buffer.truncate(6);
        assert_eq!(Rc::strong_count(&witness), 7);
        let mut rest = buffer.into_iter();
        drop(rest.next());
        assert_eq!((Rc::strong_count(&witness), rest.len()), (6, 5));
        drop(rest);
        assert_eq!(Rc::strong_count(&witness), 1);
    }

    #[test]
    fn room_is_filled_or_left() {
        let mut buffer = numbers(4);
        buffer.try_spare_slot().unwrap().fill(4);
        let _ = buffer.try_spare_slot().unwrap();
        assert!(buffer.iter().copied().eq(0..5));
    }

    #[test]
    fn elements_come_and_go_anywhere() {
        let mut buffer = Buffer::new();
        buffer.try_extend_from_slice(&[10, 0, 1, 11, 2, 3, 12]).unwrap();
        assert_eq!(buffer.remove(0), Some(10));
        assert_eq!(buffer.remove(5), Some(12));
        assert_eq!(buffer.remove(5), None);
        assert_eq!(buffer.remove(99), None);
        assert_eq!(buffer.swap_remove(1), Some(1));
        assert_eq!(*buffer, [0, 3, 11, 2]);
        buffer.retain(|number| number % 2 == 1);
        assert_eq!(*buffer, [3, 11]);
        buffer.try_resize(4, 7).unwrap();
        assert_eq!(*buffer, [3, 11, 7, 7]);
        buffer.try_resize(1, 0).unwrap();
        assert_eq!(*buffer, [3]);
    }

    #[test]
    fn a_size_that_overflows_is_refused_and_nothing_changes() {
        let mut buffer = numbers(3);
        assert!(buffer.try_reserve(usize::MAX).is_err());
        assert!(buffer.try_reserve(isize::MAX as usize / 4).is_err());
        assert!(Buffer::<u64>::try_with_capacity(usize::MAX).is_err());
        assert_eq!(*buffer, [0, 1, 2]);
    }

    #[test]
    fn an_empty_buffer_allocates_nothing() {
        let (_, len, capacity) = Buffer::<u64>::try_with_capacity(0).unwrap().into_raw_parts();
        assert_eq!((len, capacity), (0, 0));
    }

    #[test]
    fn text_is_appended() {
        let mut text = Buffer::new();
        text.try_extend_from_slice(b"n = ").unwrap();
        write!(text, "{}", 42).unwrap();
        assert_eq!(&*text, b"n = 42");
    }

    #[test]
    fn raw_parts_come_back() {
        let (block, len, capacity) = numbers(5).into_raw_parts();
        // SAFETY: the parts were returned above.
        let buffer = unsafe { Buffer::from_raw_parts(block, len, capacity) };
        assert_eq!(*buffer, [0, 1, 2, 3, 4]);
    }
}

//! Arrays and Lists as core sees them: the elements of one, and a new Array of known length. Ring 2
//! has the containers.

use core::any::TypeId;
use core::ffi::c_void;
use core::mem::ManuallyDrop;
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIObject, TVMFFISeqCell, type_index};
use crate::error::{Result, out_of_memory};
use crate::object::ObjectRef;
use crate::object::borrow::{BriefShared, Shared};
use crate::object::object_alloc::{self, ObjectRecord};
use crate::plain_error;
use crate::platform::sync::atomic::{Ordering, size_word};
use crate::value::any::{Any, AnyView};

/// The record of an Array or List, in the layout of ring 2 and of C++ code. The elements of an
/// Array follow it.
#[repr(C)]
struct SequenceRecord {
    header: TVMFFIObject,
    cell: TVMFFISeqCell,
}

// SAFETY: repr(C), header first; an Array that is made here owns its elements, which lie in the
// object, or, after C++ code replaced them, in a block with a deleter.
unsafe impl ObjectRecord for SequenceRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record: *mut SequenceRecord = this.cast();
        // SAFETY: the record is initialised and ours alone.
        unsafe {
            let TVMFFISeqCell { data, size, data_deleter, .. } = (*record).cell;
            for index in 0..usize::try_from(size).unwrap_or(0) {
                drop(Any::from_raw(data.cast::<TVMFFIAny>().add(index).read()));
            }
            if let Some(release) = data_deleter {
                release(data);
            }
        }
    }
}

/// A borrowed Array or List.
struct BorrowedSequence(ManuallyDrop<ObjectRef>);

impl BorrowedSequence {
    /// Returns the sequence of a view, which must not outlive the view. Follows rvalue references.
    /// Returns `None` for other values.
    fn of(view: &AnyView<'_>) -> Option<BorrowedSequence> {
        let object = match view.rvalue_slot() {
            // SAFETY: an rvalue reference points to the caller's object pointer (ABI).
            Some(slot) => ptr::NonNull::new(unsafe { slot.as_ptr().read() })?,
            None => view.object_ptr()?,
        };
        // SAFETY: the view borrows a live object, whose reference is not given up here.
        let object = ManuallyDrop::new(unsafe { ObjectRef::from_raw(object) });
        matches!(object.type_index(), type_index::ARRAY | type_index::LIST)
            .then_some(BorrowedSequence(object))
    }

    fn cell(&self) -> *mut TVMFFISeqCell {
        // SAFETY: Arrays and Lists have their cell after the header.
        unsafe { &raw mut (*self.0.as_ptr().cast::<SequenceRecord>()).cell }
    }

    /// Returns the number of elements. Needs no borrow: the field is read atomically.
    fn len(&self) -> usize {
        // SAFETY: the object is live, and Rust code writes the field atomically.
        let len = unsafe { size_word(&raw mut (*self.cell()).size) }.load(Ordering::Relaxed);
        (len as isize).max(0) as usize
    }

    /// Borrows a List for copying an element. Arrays do not change.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the List.
    ///
    /// # Safety
    /// Same requirements as [`BriefShared::of`].
    #[inline]
    unsafe fn read(&self) -> Result<Option<BriefShared<'_>>> {
        // SAFETY: guaranteed by the caller.
        (self.0.type_index() == type_index::LIST)
            .then(|| unsafe { BriefShared::of(&self.0) })
            .transpose()
    }

    /// Borrows a List for reading. Arrays do not change.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the List.
    fn borrow(&self) -> Result<Option<Shared<&ObjectRef>>> {
        (self.0.type_index() == type_index::LIST).then(|| Shared::of(&*self.0)).transpose()
    }

    /// Returns the word of the element at `index`; `None` beyond the end. It owns nothing.
    ///
    /// # Safety
    /// The sequence must be borrowed.
    unsafe fn word(&self, index: usize) -> Option<TVMFFIAny> {
        // SAFETY: the cell describes that many elements, and the caller excludes writers.
        (index < self.len())
            .then(|| unsafe { (*self.cell()).data.cast::<TVMFFIAny>().add(index).read() })
    }
}

/// Calls `each` with the elements of an Array or List in place. Returns `None` for other values.
///
/// # Errors
/// Errors of `each`; RuntimeError if another thread is changing the List.
pub(crate) fn with_elements<R>(
    view: &AnyView<'_>,
    each: impl FnOnce(&[AnyView<'_>]) -> Result<R>,
) -> Result<Option<R>> {
    let Some(sequence) = BorrowedSequence::of(view) else { return Ok(None) };
    let _borrow = sequence.borrow()?;
    // SAFETY: the cell describes that many elements; the borrow excludes writers while they are
    // read.
    let elements = unsafe {
        AnyView::slice_from_raw(
            (*sequence.cell()).data.cast::<TVMFFIAny>().cast_const(),
            sequence.len(),
        )
    };
    each(elements).map(Some)
}

/// Returns `true` if a value is an Array.
pub(crate) fn is_array(view: &AnyView<'_>) -> bool {
    view.type_index() == type_index::ARRAY
}

/// Returns the number of elements of an Array or List, or `None` for other values.
pub(crate) fn len(view: &AnyView<'_>) -> Option<usize> {
    BorrowedSequence::of(view).map(|sequence| sequence.len())
}

/// Returns the element at `index` of an Array or List, or `None` if there is none. Owned, because
/// conversions may run user callbacks that change a List.
///
/// # Errors
/// RuntimeError if another thread is changing the List; TypeError for a DLTensor pointer, which C++
/// code may have put there.
pub(crate) fn element(view: &AnyView<'_>, index: usize) -> Result<Option<Any>> {
    let Some(sequence) = BorrowedSequence::of(view) else { return Ok(None) };
    // SAFETY: nothing else runs until the element has its own reference.
    let _borrow = unsafe { sequence.read()? };
    // SAFETY: the borrow excludes writers.
    unsafe { sequence.word(index).map(|word| AnyView::from_raw(word).to_owned()).transpose() }
}

/// Calls `each` with the elements of an Array or List in order, until it returns `false`. Returns
/// whether all calls returned `true`, or `None` for other values. The function may change a List.
///
/// # Errors
/// Errors of `each`; RuntimeError if another thread is changing the List.
#[cfg(feature = "alloc")]
pub(crate) fn for_each(
    view: &AnyView<'_>,
    mut each: impl FnMut(&AnyView<'_>) -> Result<bool>,
) -> Result<Option<bool>> {
    let Some(sequence) = BorrowedSequence::of(view) else { return Ok(None) };
    if sequence.0.type_index() == type_index::ARRAY {
        // An Array does not change, and keeps its elements alive.
        return with_elements(view, |elements| all(elements, &mut each));
    }
    let mut index = 0;
    loop {
        let (element, owned) = {
            // SAFETY: nothing else runs until the element has its own reference.
            let _borrow = unsafe { sequence.read()? };
            // SAFETY: the borrow excludes writers.
            let Some(word) = (unsafe { sequence.word(index) }) else { return Ok(Some(true)) };
            // SAFETY: as above; without the reference, only a value that is not an object is used.
            let element = unsafe { AnyView::from_raw(word) };
            // Objects could be released while they are read; other values are in the copied word.
            (element, element.object_ptr().and_then(|_| element.retain()))
        };
        let is_accepted = match &owned {
            Some(object) => each(object.as_view())?,
            None => each(&element)?,
        };
        if !is_accepted {
            return Ok(Some(false));
        }
        index += 1;
    }
}

/// Calls `each` with the elements in order, until it returns `false`. Returns whether all calls
/// returned `true`.
#[cfg(feature = "alloc")]
fn all(
    elements: &[AnyView<'_>],
    mut each: impl FnMut(&AnyView<'_>) -> Result<bool>,
) -> Result<bool> {
    for element in elements {
        if !each(element)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Borrows a slice of `u8` as such, or returns `None` for elements of another type.
pub(crate) fn as_bytes<T: 'static>(values: &[T]) -> Option<&[u8]> {
    // SAFETY: the types are the same.
    (TypeId::of::<T>() == TypeId::of::<u8>())
        .then(|| unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), values.len()) })
}

/// A new Array, which is filled from the front.
pub(crate) struct Builder(ObjectRef);

impl Builder {
    /// Creates an empty Array for `capacity` elements.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn new(capacity: usize) -> Result<Builder> {
        let Some(bytes) = capacity.checked_mul(size_of::<TVMFFIAny>()) else {
            return Err(out_of_memory(usize::MAX));
        };
        let init = |record: *mut SequenceRecord| {
            // SAFETY: `record` is a new object, and `bytes` bytes follow it.
            unsafe {
                let data = record.add(1).cast::<c_void>();
                (&raw mut (*record).cell).write(TVMFFISeqCell {
                    data,
                    size: 0,
                    capacity: capacity as i64,
                    data_deleter: None,
                });
            }
        };
        // SAFETY: `init` writes every field behind the header.
        unsafe {
            object_alloc::allocate::<SequenceRecord>(type_index::ARRAY, bytes, init).map(Builder)
        }
    }

    /// Appends an element.
    ///
    /// # Errors
    /// InternalError if the Array is full.
    pub(crate) fn push(&mut self, value: Any) -> Result<()> {
        // SAFETY: the object is new and not shared; a cell below the capacity is ours to fill.
        unsafe {
            let cell = &mut (*self.0.as_ptr().cast::<SequenceRecord>()).cell;
            if cell.size >= cell.capacity {
                return Err(
                    plain_error!(INTERNAL_ERROR, "more elements than an array was made for"; "full"),
                );
            }
            cell.data.cast::<TVMFFIAny>().add(cell.size as usize).write(value.into_raw());
            cell.size += 1;
        }
        Ok(())
    }

    /// Returns the Array.
    pub(crate) fn finish(self) -> Any {
        self.0.into_any()
    }
}

//! Attributes of types: one column per attribute name, indexed by type index.
//!
//! C readers keep the pointer to a column and index its data in place, so a column never moves. Its data
//! moves when it grows; outgrown data stays readable for ever.

use crate::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFITypeAttrColumn};
use crate::any::AnyView;
use crate::type_index::NONE;

use super::columns;
use super::growing_array::{ArrayLayout, GrowingArray};
use super::library_members::LibraryTypes;
use super::provided::{ensure_provided, is_provided};

// Places that nobody wrote are zero.
const _: () = assert!(NONE == 0);

/// One attribute of all types that have it.
#[repr(C)]
pub struct AttrColumn {
    column: UnsafeCell<TVMFFITypeAttrColumn>,
    /// Room of the data; touched only under the registry's lock.
    capacity: Cell<i32>,
    /// The types that have this attribute from the library itself.
    pub(super) own: LibraryTypes,
}

// SAFETY: of `column`, begin_index never changes and the other fields are read and written through atomics;
// `capacity` is touched only by holders of the registry's lock, as the arena in their hands shows.
unsafe impl Sync for AttrColumn {}
// SAFETY: the data pointer leads to memory that is never freed and belongs to no thread.
unsafe impl Send for AttrColumn {}

impl AttrColumn {
    pub(super) const fn new() -> Self {
        AttrColumn {
            column: UnsafeCell::new(TVMFFITypeAttrColumn { data: ptr::null(), size: 0, begin_index: 0 }),
            capacity: Cell::new(0),
            own: LibraryTypes::none(),
        }
    }

    /// The record as C code reads it; valid for ever.
    pub fn as_ptr(&self) -> *const TVMFFITypeAttrColumn {
        self.column.get()
    }

    /// The attribute of a type, None when the type has none. Values stay for ever once registered.
    ///
    /// # Threads
    /// Lock-free, allocates nothing.
    pub fn get(&self, type_index: i32) -> AnyView<'static> {
        let size = self.size().load(Ordering::Acquire);
        if type_index < 0 || type_index >= size {
            return AnyView::NONE;
        }
        // Data seen after a size holds at least that many cells: it was published first.
        let cell = self.data().load(Ordering::Acquire).wrapping_add(type_index as usize);
        // SAFETY: the cell is within published data, which is never freed; its type index is accessed
        // atomically.
        let value_type = unsafe { AtomicI32::from_ptr(&raw mut (*cell).type_index) };
        if value_type.load(Ordering::Acquire) == NONE {
            return AnyView::NONE;
        }
        // SAFETY: a cell with a type index is complete, never changes again and owns its value for ever.
        unsafe { AnyView::from_raw(cell.read()) }
    }

    /// The array of values.
    pub(super) fn array(&self, place: &'static ArrayLayout) -> GrowingArray<'_> {
        // SAFETY: the place is that of this file, and its parts live as long as the column.
        unsafe { GrowingArray::at(ptr::from_ref(self).cast_mut().cast(), place) }
    }

    fn data(&self) -> &AtomicPtr<TVMFFIAny> {
        // SAFETY: the field is aligned, lives as long as the column, and Rust code reaches it through this
        // atomic only.
        unsafe { AtomicPtr::from_ptr((&raw mut (*self.column.get()).data).cast()) }
    }

    fn size(&self) -> &AtomicI32 {
        // SAFETY: as for `data`.
        unsafe { AtomicI32::from_ptr(&raw mut (*self.column.get()).size) }
    }
}

/// The values in a column.
pub(super) const VALUES: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeAttrColumn, data) as u8,
    len: offset_of!(TVMFFITypeAttrColumn, size) as u8,
    capacity: offset_of!(AttrColumn, capacity) as u8,
    record_bytes: size_of::<TVMFFIAny>() as u8,
    first_capacity: 4,
};

/// The column of an attribute, for ever at its address; None when no type has had it registered, unless it is one that
/// the library itself looks at.
///
/// # Threads
/// Lock-free, allocates nothing.
///
/// # Upstream
/// `TVMFFIGetTypeAttrColumn`.
pub fn attr_column(name: &[u8]) -> Option<&'static AttrColumn> {
    if is_provided() { columns::get(name) } else { provided_column(name) }
}

/// As [`attr_column`], the first time.
#[cold]
#[inline(never)]
fn provided_column(name: &[u8]) -> Option<&'static AttrColumn> {
    ensure_provided();
    columns::get(name)
}

/// An attribute of a type, None when the type does not have it. Nothing is inherited from the parent.
///
/// # Threads
/// Lock-free, allocates nothing.
pub fn attr(type_index: i32, name: &[u8]) -> AnyView<'static> {
    attr_column(name).map_or(AnyView::NONE, |column| column.get(type_index))
}

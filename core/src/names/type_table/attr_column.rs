//! Type attributes: one column per attribute name, indexed by type index.
//!
//! C readers keep the pointer to a column and index its data directly, so a column never moves. Its
//! data moves when it grows, but old data stays readable forever.

use crate::platform::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ptr;

use crate::abi::type_index::NONE;
use crate::abi::{TVMFFIAny, TVMFFITypeAttrColumn};
use crate::value::any::AnyView;

use super::columns;
use super::growing_array::{ArrayLayout, GrowingArray};
use super::library_members::LibraryTypes;
use super::provided::{ensure_provided, is_provided};

// Unwritten cells are zero.
const _: () = assert!(NONE == 0);

/// The column of one attribute: its values for all types that have the attribute.
#[repr(C)]
pub struct AttrColumn {
    column: UnsafeCell<TVMFFITypeAttrColumn>,
    /// Capacity of the data; only accessed under the registry's lock.
    capacity: Cell<i32>,
    /// Types whose value the library itself registered.
    pub(super) own: LibraryTypes,
}

// SAFETY: of `column`, begin_index never changes and the other fields are accessed atomically;
// `capacity` is only accessed by holders of the registry's lock, as their access to the arena
// shows.
unsafe impl Sync for AttrColumn {}
// SAFETY: the data pointer refers to memory that is never freed and belongs to no thread.
unsafe impl Send for AttrColumn {}

impl AttrColumn {
    pub(super) const fn new() -> Self {
        AttrColumn {
            column: UnsafeCell::new(TVMFFITypeAttrColumn {
                data: ptr::null(),
                size: 0,
                begin_index: 0,
            }),
            capacity: Cell::new(0),
            own: LibraryTypes::none(),
        }
    }

    /// Returns the record that C code reads; valid forever.
    pub fn as_ptr(&self) -> *const TVMFFITypeAttrColumn {
        self.column.get()
    }

    /// Returns the attribute's value for a type, or None if the type has none. Values are never
    /// removed.
    ///
    /// # Threads
    /// Lock-free, allocates nothing.
    pub fn get(&self, type_index: i32) -> AnyView<'static> {
        let size = self.size().load(Ordering::Acquire);
        if type_index < 0 || type_index >= size {
            return AnyView::NONE;
        }
        // Data is published before its size, so it has at least that many cells.
        let cell = self.data().load(Ordering::Acquire).wrapping_add(type_index as usize);
        // SAFETY: the cell is within published data, which is never freed; its type index is
        // accessed atomically.
        let value_type = unsafe { AtomicI32::from_ptr(&raw mut (*cell).type_index) };
        if value_type.load(Ordering::Acquire) == NONE {
            return AnyView::NONE;
        }
        // SAFETY: a cell with a type index is complete, never changes again, and owns its value
        // forever.
        unsafe { AnyView::from_raw(cell.read()) }
    }

    /// Returns the array of values.
    pub(super) fn array(&self, place: &'static ArrayLayout) -> GrowingArray<'_> {
        // SAFETY: the layout is the one in this file, and its fields live as long as the column.
        unsafe { GrowingArray::at(ptr::from_ref(self).cast_mut().cast(), place) }
    }

    fn data(&self) -> &AtomicPtr<TVMFFIAny> {
        // SAFETY: the field is aligned, lives as long as the column, and is only accessed through
        // this atomic.
        unsafe { AtomicPtr::from_ptr((&raw mut (*self.column.get()).data).cast()) }
    }

    fn size(&self) -> &AtomicI32 {
        // SAFETY: as for `data`.
        unsafe { AtomicI32::from_ptr(&raw mut (*self.column.get()).size) }
    }
}

/// Memory layout of the array of values in a column.
pub(super) const VALUES: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeAttrColumn, data) as u8,
    len: offset_of!(TVMFFITypeAttrColumn, size) as u8,
    capacity: offset_of!(AttrColumn, capacity) as u8,
    record_bytes: size_of::<TVMFFIAny>() as u8,
    first_capacity: 4,
};

/// Finds the column of an attribute, whose address never changes. Returns `None` if no type has
/// registered the attribute and the library does not use it.
///
/// # Threads
/// Lock-free, allocates nothing.
///
/// # Upstream
/// `TVMFFIGetTypeAttrColumn`.
pub fn attr_column(name: &[u8]) -> Option<&'static AttrColumn> {
    if is_provided() { columns::get(name) } else { provided_column(name) }
}

/// The slow path of [`attr_column`], which registers the library's own types first.
#[cold]
#[inline(never)]
fn provided_column(name: &[u8]) -> Option<&'static AttrColumn> {
    ensure_provided();
    columns::get(name)
}

/// Returns an attribute of a type, or None if the type does not have it. Attributes are not
/// inherited from the parent.
///
/// # Threads
/// Lock-free, allocates nothing.
pub fn attr(type_index: i32, name: &[u8]) -> AnyView<'static> {
    attr_column(name).map_or(AnyView::NONE, |column| column.get(type_index))
}

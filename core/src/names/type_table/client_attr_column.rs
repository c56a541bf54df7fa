//! Columns of type attributes in the loaded `libtvm_ffi`.

use core::ptr;

use crate::abi::type_index::NONE;
use crate::abi::{TVMFFIByteArray, TVMFFITypeAttrColumn, client};
use crate::platform::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use crate::value::any::AnyView;

/// The column of one attribute: its values for all types that have the attribute. It never moves
/// and is never freed (ABI).
#[repr(transparent)]
pub struct AttrColumn(TVMFFITypeAttrColumn);

impl AttrColumn {
    /// Returns the attribute's value for a type, or None if the type has none. Values are never
    /// removed.
    ///
    /// # Threads
    /// Lock-free, allocates nothing.
    pub fn get(&self, type_index: i32) -> AnyView<'static> {
        let column = ptr::from_ref(&self.0).cast_mut();
        // SAFETY: the library may change data and size at any time, so both are read atomically;
        // begin_index never changes.
        let (data, size, begin) = unsafe {
            let size = AtomicI32::from_ptr(&raw mut (*column).size).load(Ordering::Acquire);
            let data =
                AtomicPtr::from_ptr((&raw mut (*column).data).cast::<*mut crate::abi::TVMFFIAny>());
            (data.load(Ordering::Acquire), size, (*column).begin_index)
        };
        match type_index.checked_sub(begin) {
            // SAFETY: data is published before its size; a cell is complete or None, and owns its
            // value forever.
            Some(place @ 0..) if place < size => unsafe {
                let cell = data.add(place as usize);
                match AtomicI32::from_ptr(&raw mut (*cell).type_index).load(Ordering::Acquire) {
                    NONE => AnyView::NONE,
                    _ => AnyView::from_raw(cell.read()),
                }
            },
            _ => AnyView::NONE,
        }
    }
}

/// Finds the column of an attribute. Returns `None` if no type has registered the attribute.
///
/// # Upstream
/// `TVMFFIGetTypeAttrColumn`.
pub fn attr_column(name: &[u8]) -> Option<&'static AttrColumn> {
    // SAFETY: the name is valid for the call; a column lives as long as the process (ABI).
    unsafe {
        client::TVMFFIGetTypeAttrColumn(&TVMFFIByteArray::from_slice(name))
            .cast::<AttrColumn>()
            .as_ref()
    }
}

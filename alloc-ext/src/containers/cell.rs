//! Single cells of a container: copies and moves of values as whole words.

use core::mem::{ManuallyDrop, size_of};

use ferrite_core::abi::{TVMFFIAny, type_index};
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};

/// Size of a cell in bytes.
pub(super) const CELL_BYTES: usize = size_of::<TVMFFIAny>();

const _: () = assert!(CELL_BYTES == 16 && size_of::<Any>() == 16 && align_of::<TVMFFIAny>() <= 8);

/// Converts a view that cannot be stored, such as a raw string, to an owned value. Returns `None`
/// for other views.
#[inline]
pub(super) fn owned_form(view: &AnyView<'_>) -> Result<Option<Any>> {
    if type_index::is_view_only(view.type_index()) { view.to_owned().map(Some) } else { Ok(None) }
}

/// Converts a view to an owned value like [`AnyView::to_owned`], with an inlined fast path.
///
/// # Errors
/// Errors of [`AnyView::to_owned`].
#[inline]
pub(super) fn own(view: &AnyView<'_>) -> Result<Any> {
    if type_index::is_view_only(view.type_index()) {
        return view.to_owned();
    }
    // SAFETY: the view's cell holds a value that is alive while it is borrowed.
    Ok(unsafe { copy_of(view.as_raw()) })
}

/// Writes an owned copy of a view's value to a cell, as whole words: store forwarding fails for
/// values written in pieces.
///
/// # Errors
/// Errors of [`AnyView::to_owned`].
///
/// # Safety
/// `cell` must be valid for writing. Its previous content is not released.
#[inline]
pub(super) unsafe fn write_own(view: &AnyView<'_>, cell: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: the caller guarantees the cell, and the view's value is alive while it is borrowed.
    unsafe {
        if view.type_index() < type_index::DL_TENSOR_PTR {
            // Most values are plain and own nothing.
            cell.copy_from_nonoverlapping(view.as_raw(), 1);
        } else if type_index::is_view_only(view.type_index()) {
            cell.write(view.to_owned()?.into_raw());
        } else {
            share(view.as_raw(), cell);
        }
    }
    Ok(())
}

/// Writes an owned copy of the value in `cell` to `target`.
///
/// # Safety
/// The contract of [`copy_of`]. `target` must be a different cell, valid for writing. Its previous
/// content is not released.
#[inline]
pub(super) unsafe fn share(cell: *const TVMFFIAny, target: *mut TVMFFIAny) {
    // SAFETY: the caller guarantees both cells; Any is transparent over one, and the reference
    // taken is the target's.
    unsafe {
        target.copy_from_nonoverlapping(cell, 1);
        core::mem::forget(Any::clone(&*cell.cast::<Any>()));
    }
}

/// Returns an owned copy of the value in a cell.
///
/// # Safety
/// `cell` must point to an initialised cell that is not written during the call.
#[inline]
pub(super) unsafe fn copy_of(cell: *const TVMFFIAny) -> Any {
    // SAFETY: the caller guarantees the cell; its reference is not released here.
    let value = ManuallyDrop::new(unsafe { Any::from_raw(cell.read()) });
    Any::clone(&value)
}

/// Moves the value out of a cell, which is uninitialised afterwards.
///
/// # Safety
/// `cell` must point to an initialised cell that nothing else uses.
#[inline]
pub(super) unsafe fn take(cell: *mut TVMFFIAny) -> Any {
    // SAFETY: the caller guarantees the cell and gives up its reference.
    unsafe { Any::from_raw(cell.read()) }
}

/// Releases the values in `len` cells, which are uninitialised afterwards.
///
/// # Safety
/// Same requirements as [`take`] for each cell.
pub(super) unsafe fn release_all(cells: *mut TVMFFIAny, len: usize) {
    for index in 0..len {
        // SAFETY: the caller guarantees the cells; only objects have something to release.
        unsafe {
            let cell = cells.add(index);
            if (*cell).type_index >= type_index::STATIC_OBJECT_BEGIN {
                drop(take(cell));
            }
        }
    }
}

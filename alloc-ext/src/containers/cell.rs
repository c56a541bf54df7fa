//! Single cells of a container: copied and moved as raw words.

use core::mem::{ManuallyDrop, size_of};

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};

/// Bytes of one cell.
pub(super) const CELL_BYTES: usize = size_of::<TVMFFIAny>();

const _: () = assert!(CELL_BYTES == 16 && size_of::<Any>() == 16 && align_of::<TVMFFIAny>() <= 8);

/// An own copy of the value in a cell.
///
/// # Safety
///
/// `cell` points to an initialised cell that nobody writes during the call.
pub(super) unsafe fn copy_of(cell: *const TVMFFIAny) -> Any {
    // SAFETY: the caller vouches for the cell; the reference that it holds is not given up here.
    let value = ManuallyDrop::new(unsafe { Any::from_raw(cell.read()) });
    Any::clone(&value)
}

/// Moves the value out of a cell, which is uninitialised afterwards.
///
/// # Safety
///
/// `cell` points to an initialised cell that nobody else uses.
pub(super) unsafe fn take(cell: *mut TVMFFIAny) -> Any {
    // SAFETY: the caller vouches for the cell and gives up its reference.
    unsafe { Any::from_raw(cell.read()) }
}

/// A view of the value in a cell.
///
/// # Safety
///
/// `cell` points to an initialised cell, whose value stays what it is for `'a`.
pub(super) unsafe fn view_of<'a>(cell: *const TVMFFIAny) -> AnyView<'a> {
    // SAFETY: the caller vouches for the cell.
    unsafe { AnyView::from_raw(cell.read()) }
}

/// Whether two cells hold the same words, that is the same plain value, small text or object.
pub(super) fn same_words(lhs: &TVMFFIAny, rhs: &TVMFFIAny) -> bool {
    // SAFETY: all payload bytes are initialised in every value.
    let (left, right) = unsafe { (lhs.payload.v_uint64, rhs.payload.v_uint64) };
    lhs.type_index == rhs.type_index && lhs.small_str_len == rhs.small_str_len && left == right
}

//! Records just written, on boards, whose processors have no store buffer worth waiting for.

use crate::abi::{DLDataType, DLTensor, TVMFFIAny};
use crate::any::AnyView;

/// A data type as it is. Callers for whom size counts do without the call, which takes 16 bytes of flash.
#[inline(always)]
pub(crate) fn dtype(dtype: DLDataType) -> DLDataType {
    dtype
}

/// Copies a value.
///
/// # Safety
/// `from` must be valid for reading, and `to` for writing.
#[inline(always)]
pub(crate) unsafe fn copy_any(from: *const TVMFFIAny, to: *mut TVMFFIAny) {
    // SAFETY: the caller vouches for both records.
    unsafe { to.write(from.read()) }
}

/// A copy of an argument.
#[inline(always)]
pub fn view<'a>(from: &AnyView<'a>) -> AnyView<'a> {
    *from
}

/// Copies a tensor's description.
///
/// # Safety
/// `from` must be valid for reading, and `to` for writing.
#[inline(always)]
pub(crate) unsafe fn copy_dl_tensor(from: *const DLTensor, to: *mut DLTensor) {
    // SAFETY: the caller vouches for both records, of which `to` is a fresh one.
    unsafe { to.copy_from_nonoverlapping(from, 1) }
}

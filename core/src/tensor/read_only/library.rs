//! The read-only flag of tensors imported from DLPack, which the record of the import stores.

use crate::abi::{DLPACK_FLAG_BITMASK_READ_ONLY, type_index};
use crate::error::Result;
use crate::tensor::borrowing;
use crate::value::any::AnyView;

/// Returns `true` if the value is a tensor object over memory that its producer does not permit to
/// write.
///
/// # Errors
/// None. In clients of a loaded library, MemoryError.
pub fn is_read_only(view: AnyView<'_>) -> Result<bool> {
    let Some(object) = view.object_ptr().filter(|_| view.type_index() == type_index::TENSOR) else {
        return Ok(false);
    };
    // SAFETY: the view borrows a live tensor.
    let flags = unsafe { borrowing::inherited_flags(object.as_ptr()) };
    Ok(flags & DLPACK_FLAG_BITMASK_READ_ONLY != 0)
}

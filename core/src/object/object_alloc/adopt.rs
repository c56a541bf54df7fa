//! Construction of objects in existing memory blocks, such as a string buffer that becomes a
//! string.

use core::ptr::NonNull;

use super::{BODY_OFFSET, ObjectRecord, RecordLayout, adopt_block, set_up, source};
use crate::object::ObjectRef;

/// Number of bytes before the record, reserved for the allocator's header.
pub(crate) const LEAD_BYTES: usize = BODY_OFFSET;

/// Returns `true` if objects may be constructed in existing blocks. While a custom allocator is
/// set, they may not: it must allocate every object itself.
pub(crate) fn takes_blocks() -> bool {
    source::uses_builtin()
}

/// Constructs an object in an existing block. Sets up its header, then calls `init` with the start
/// of the record to write every other field.
///
/// # Safety
/// Same requirements as [`allocate`](super::allocate); the block comes from
/// [`crate::platform::memory`], is aligned to 16, has space for [`LEAD_BYTES`] and the record, and
/// is owned by the caller.
pub(crate) unsafe fn adopt<R: ObjectRecord>(
    type_index: i32,
    block: NonNull<u8>,
    init: impl FnOnce(*mut R),
) -> ObjectRef {
    // SAFETY: the caller guarantees the block and for `init`.
    unsafe {
        let body = set_up(
            adopt_block::<BODY_OFFSET>(block),
            const { &RecordLayout::of::<R>() },
            type_index,
        );
        init(body.as_ptr().cast());
        ObjectRef::from_raw(body.add(R::PREFIX_BYTES).cast())
    }
}

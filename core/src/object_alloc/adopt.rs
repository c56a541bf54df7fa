//! Objects constructed in blocks that were allocated before the object was known to be needed.

use core::ptr::NonNull;

use super::{BODY_OFFSET, ObjectRecord, RecordLayout, adopt_block, set_up, source};
use crate::object::ObjectRef;

/// Bytes before the record, for the allocator's header.
pub(crate) const LEAD_BYTES: usize = BODY_OFFSET;

/// Returns `true` if blocks may become objects: not while a custom allocator is set, which must allocate every object
/// itself.
pub(crate) fn takes_blocks() -> bool {
    source::uses_builtin()
}

/// Makes an object in a block and sets up its header; `init` gets the start of the record and writes every other field.
///
/// # Safety
/// As [`allocate`](super::allocate); the block comes from [`crate::memory`], is aligned to 16, has space for
/// [`LEAD_BYTES`] and the record, and is owned by the caller.
pub(crate) unsafe fn adopt<R: ObjectRecord>(
    type_index: i32,
    block: NonNull<u8>,
    init: impl FnOnce(*mut R),
) -> ObjectRef {
    // SAFETY: the caller vouches for the block and for `init`.
    unsafe {
        let body = set_up(adopt_block::<BODY_OFFSET>(block), const { &RecordLayout::of::<R>() }, type_index);
        init(body.as_ptr().cast());
        ObjectRef::from_raw(body.add(R::PREFIX_BYTES).cast())
    }
}

//! Objects in blocks of memory that were taken before it was known that there would be an object.

use core::ptr::NonNull;

use super::{BODY_OFFSET, ObjectRecord, RecordLayout, adopt_block, set_up, source};
use crate::object::ObjectRef;

/// Bytes in front of the record, for the allocator's header.
pub(crate) const LEAD_BYTES: usize = BODY_OFFSET;

/// Whether objects may be made of blocks: not while another allocator is set, which wants to be asked.
pub(crate) fn takes_blocks() -> bool {
    source::uses_builtin()
}

/// Makes an object of a block, whose header is set up here; `init` gets the start of the record and writes every other field.
///
/// # Safety
/// As [`allocate`](super::allocate); the block is one of [`crate::memory`] with room for [`LEAD_BYTES`] and the record, at a
/// multiple of 16, and nobody else uses it.
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

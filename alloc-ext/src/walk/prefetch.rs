//! Prefetching of what a walk visits soon.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::{prefetch, type_index};

/// How far ahead, in bytes: a page, since the processor's own look ahead ends at the page that it is in.
const DISTANCE: usize = 4096;
/// Bytes that come into the cache at once.
const LINE: usize = 64;

/// Asks for what lies a page behind a value and behind its object. Whoever makes a large value mostly makes its parts one
/// after another, so that the next ones to come are there; where they are not, little is lost.
#[inline(always)]
pub fn prefetch_next(value: &Any) {
    let cell = core::ptr::from_ref(value);
    prefetch::to_read(cell.wrapping_byte_add(DISTANCE));
    if value.type_index() >= type_index::STATIC_OBJECT_BEGIN {
        // Any address may be asked for, so that nobody has to look whether there is an object.
        let object = core::ptr::without_provenance::<u8>(value.view().payload_bits() as usize);
        let ahead = object.wrapping_byte_add(DISTANCE);
        prefetch::to_read(ahead);
        prefetch::to_read(ahead.wrapping_byte_add(LINE));
    }
}

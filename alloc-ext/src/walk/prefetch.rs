//! Prefetch hints for the values that a walk visits next.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::platform::prefetch;
use ferrite_core::value::any::Any;

/// Prefetch distance in bytes: one page, because the processor's own prefetcher stops at page
/// boundaries.
const DISTANCE: usize = 4096;
/// Bytes per cache line.
const LINE: usize = 64;

/// Prefetches the memory one page beyond a value and one page beyond its object. The objects of a
/// large value are mostly allocated one after another, so the walk is likely to visit this memory
/// next; a wrong guess costs little.
#[inline(always)]
pub fn prefetch_next(value: &Any) {
    let cell = core::ptr::from_ref(value);
    prefetch::to_read(cell.wrapping_byte_add(DISTANCE));
    if value.type_index() >= type_index::STATIC_OBJECT_BEGIN {
        // A prefetch of an invalid address is harmless, so nothing checks that an object lies
        // there.
        let object = core::ptr::without_provenance::<u8>(value.view().payload_bits() as usize);
        let ahead = object.wrapping_byte_add(DISTANCE);
        prefetch::to_read(ahead);
        prefetch::to_read(ahead.wrapping_byte_add(LINE));
    }
}

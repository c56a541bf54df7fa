//! Builder of the objects of a parsed document.
//!
//! The speed-optimised `ValueBuilder` caches keys and table layouts, since many JSON objects of a document have the same
//! keys. The size-optimised one has no caches.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(super) use fast::ValueBuilder;
#[cfg(not(feature = "speed"))]
pub(super) use small::ValueBuilder;

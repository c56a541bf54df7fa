//! Builder of objects from a parsed document.
//!
//! The fast `ValueBuilder` caches keys and table layouts, since many JSON objects of a document have the same keys; the
//! small one creates every object by itself.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(super) use fast::ValueBuilder;
#[cfg(not(feature = "speed"))]
pub(super) use small::ValueBuilder;

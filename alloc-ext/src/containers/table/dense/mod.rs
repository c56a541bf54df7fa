//! The dense layout: hash chains inside one array of slots, linked by distance, and a list of entries in order.
//!
//! A slot has a metadata byte and an item. A chain starts at the home of its keys, the slot that their hash names, and goes
//! on at a probe distance whose index is in the metadata byte. An item is also a link of the list that keeps the order of
//! insertion. The layout, the hash and the rules of the chains are part of the ABI: C++ code reads and writes tables in
//! place.
//!
//! | part | content |
//! |---|---|
//! | `slots` | the storage: metadata bytes and items by slot number |
//! | `probe` | lookup: from the home of a key along its chain |
//! | `chain` | changes of chains: their ends, and the next empty slot |
//! | `add` | a slot for a new entry; removal of an entry |
//! | `relocate` | moving a chain away from the home of another one |
//! | `order` | the list in order of insertion |
//! | `prefetch` | prefetch hints for iteration and release |

mod add;
mod chain;
mod order;
mod prefetch;
mod probe;
mod relocate;
mod slots;

pub(crate) use prefetch::RELEASE_DISTANCE;
pub(crate) use slots::{Dense, LEAST_SLOTS, bytes_of, mark_empty};

/// Whether the build is speed-optimised: probe distances come from a lookup table, and strings on the heap have a
/// specialised lookup.
const SPEED: bool = cfg!(feature = "speed");

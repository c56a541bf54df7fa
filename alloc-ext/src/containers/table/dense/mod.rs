//! Dense layout: hash chains inside one array of slots, linked by probe distances, and a doubly
//! linked list of entries in insertion order.
//!
//! A slot has a metadata byte and an item. The chain of a key starts at its home slot, which is
//! determined by the hash of the key. The metadata byte of a slot has the index of the probe
//! distance to the next slot of its chain. An item is also a node of the list in insertion order.
//! The layout, the hash and the rules of the chains are part of the ABI: C++ code reads and writes
//! tables in place.
//!
//! | part | content |
//! |---|---|
//! | `slots` | storage: metadata bytes and items by slot number |
//! | `probe` | lookup of a key along its chain |
//! | `chain` | operations on chains: their ends, and the next empty slot |
//! | `add` | adding and removing entries |
//! | `relocate` | moving a chain away from the home slot of another chain |
//! | `order` | list of entries in insertion order |
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

/// Whether the build is speed-optimised. If so, probe distances come from a lookup table, and
/// string objects have a specialised lookup.
const SPEED: bool = cfg!(feature = "speed");

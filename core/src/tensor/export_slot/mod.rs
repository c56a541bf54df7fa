//! The export slot of a tensor: space in the object for the managed tensor of one export, which
//! then needs no allocation. Size-optimised builds, and cores without compare-and-swap, have no
//! slot.
//!
//! Price: without a slot, a tensor takes 64 bytes less of RAM on a Cortex-M4F; with one, an export
//! takes 102 instructions instead of 225.
//!
//! | item | meaning |
//! |---|---|
//! | `SlotFlag`, `ExportSlot` | flag that is set while the slot is in use; space of the slot |
//! | `vacant`, `claim`, `release` | creates the flag of an unused slot; claims the slot; releases it |

#[cfg_attr(all(feature = "speed", target_has_atomic = "ptr"), path = "fast.rs")]
#[cfg_attr(not(all(feature = "speed", target_has_atomic = "ptr")), path = "small.rs")]
mod imp;

pub(super) use imp::*;

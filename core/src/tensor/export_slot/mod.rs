//! The export slot of a tensor: space in the object for the managed tensor of one export, which then needs no
//! allocation. Small builds have none.
//!
//! | item | meaning |
//! |---|---|
//! | `SlotFlag`, `ExportSlot` | whether the slot is in use, and its space |
//! | `vacant`, `claim`, `release` | the flag of a free slot; claims the slot; releases it |

#[cfg_attr(all(feature = "speed", target_has_atomic = "ptr"), path = "fast.rs")]
#[cfg_attr(not(all(feature = "speed", target_has_atomic = "ptr")), path = "small.rs")]
mod imp;

pub(super) use imp::*;

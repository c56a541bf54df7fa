//! Space in a tensor object for the managed tensor of one export, which then needs no allocation; none in small builds.
//!
//! | item | meaning |
//! |---|---|
//! | `SlotFlag`, `ExportSlot` | whether an export is in the space, and the space |
//! | `vacant`, `claim`, `release` | a flag without an export; claims the space for one; returns it |

#[cfg_attr(all(feature = "speed", target_has_atomic = "ptr"), path = "fast.rs")]
#[cfg_attr(not(all(feature = "speed", target_has_atomic = "ptr")), path = "small.rs")]
mod imp;

pub(super) use imp::*;

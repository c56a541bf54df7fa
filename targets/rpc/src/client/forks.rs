//! Fork protection: the table of sessions is held across forks. Sessions themselves belong to the
//! process that connected; a child gets an RPCError from each, and never waits for its locks.
#![forbid(unsafe_code)]

use ferrite_core::platform::sync::fork::{AtFork, Ring, enlist};

use super::table::TABLE;

/// Fork handlers of the client, in locking order.
static PARTS: &[&dyn AtFork] = &[&TABLE];

/// Registers the fork handlers.
pub(super) fn install() {
    enlist(Ring::Rpc, PARTS);
}

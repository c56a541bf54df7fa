//! Fork handlers of this crate: every static lock that a fork must hold, in locking order.
//!
//! The environment's streams and tensor allocator need none, being thread-local or a single atomic pointer. The state of
//! walks and of mutators belongs to objects, each with its own [`ObjectMutex`](ferrite_core::sync::ObjectMutex). A module
//! that another thread was loading or importing is either complete or unreachable in the child, because one atomic exchange
//! under the locks below publishes it.

use ferrite_core::sync::fork::{AtFork, Ring, enlist};

use crate::module::{context, globals, imports, system_lib};

static PARTS: &[&dyn AtFork] = &[
    &globals::KEPT,
    &imports::CHANGES,
    context::REGISTERED.lock(),
    system_lib::SYMBOLS.lock(),
    system_lib::MODULES.lock(),
];

ferrite_core::at_load!(install);

/// Registers the fork handlers of this crate. Called automatically when the program or library with this crate is loaded,
/// if the platform has load-time constructors.
///
/// # Threads
/// Any thread. Calling it again has no effect.
pub fn install() {
    enlist(Ring::AllocExt, PARTS);
}

//! Fork handlers of this crate, which hold every static lock during a fork, in locking order.
//!
//! The environment's streams and tensor allocator have no lock: they are thread-local, or a single
//! atomic pointer. The state of walks and mutators belongs to objects, which an
//! [`ObjectMutex`](ferrite_core::platform::sync::ObjectMutex) protects. A module that another
//! thread is loading or importing is complete or unreachable in the child, because one atomic
//! exchange under these locks publishes it.

use ferrite_core::platform::sync::fork::{AtFork, Ring, enlist};

use crate::module::{context, globals, imports, system_lib};

static PARTS: &[&dyn AtFork] = &[
    &globals::KEPT,
    &imports::CHANGES,
    context::REGISTERED.lock(),
    system_lib::SYMBOLS.lock(),
    system_lib::MODULES.lock(),
];

ferrite_core::at_load!(install);

/// Registers the fork handlers of this crate. Called automatically when the program or library with
/// this crate is loaded, if the platform has load-time constructors.
///
/// # Threads
/// Any thread. Calling it again has no effect.
pub fn install() {
    enlist(Ring::AllocExt, PARTS);
}

//! The locks of this crate that a fork must hold: every static lock, in locking order.
//!
//! The streams and the tensor allocator of the environment are thread-local or one atomic pointer. States of walks and of
//! mutators belong to objects, whose locks are those of [`ObjectMutex`](ferrite_core::sync::ObjectMutex). Modules that another
//! thread was loading or importing are complete or unreachable: one exchange publishes them, under the locks below.

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

/// Makes forks hold the locks of this crate. Called automatically when the program or library with this crate is loaded, if
/// the platform has load-time constructors.
///
/// # Threads
/// Any thread. Calling it again has no effect.
pub fn install() {
    enlist(Ring::AllocExt, PARTS);
}

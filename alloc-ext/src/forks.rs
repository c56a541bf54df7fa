//! The state of this crate that must be at rest during a fork: every static lock, in locking order.
//!
//! The streams and the tensor allocator of the environment are each thread's own or one atomic pointer. States of walks and of
//! mutators belong to objects, whose locks are those of [`ObjectMutex`](ferrite_core::sync::ObjectMutex). Modules that another
//! thread was loading or importing are whole or unreachable: they are shown by one exchange, under the locks below.

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

/// Makes forks hold the locks of this crate. Happens by itself when the program or library with this crate is loaded, where
/// objects can have constructors.
///
/// # Threads
/// Any; calling it again changes nothing.
pub fn install() {
    enlist(Ring::AllocExt, PARTS);
}

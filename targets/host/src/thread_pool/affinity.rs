//! Processor affinity of the pool's workers.

use ferrite_core::platform::sync::Mutex;

use super::settings::{self, Bind};
use super::system;

/// Maximum number of processors that can be configured.
const MAX_PROCESSORS: usize = 1024;

/// Processors configured for the workers.
pub(crate) struct Affinity {
    pub(super) processors: heapless::Vec<u16, MAX_PROCESSORS>,
    /// Whether every worker may run on all processors. Otherwise each worker is bound to one,
    /// beginning with the second; the first one is left to the launching thread.
    pub(super) are_shared: bool,
}

/// The configured processors; empty by default.
pub(crate) static AFFINITY: Mutex<Affinity> =
    Mutex::new(Affinity { processors: heapless::Vec::new(), are_shared: false });

impl Affinity {
    /// Replaces the processors.
    pub(super) fn set_list(&mut self, processors: impl Iterator<Item = u16>) {
        self.processors.clear();
        self.processors.extend(processors.take(MAX_PROCESSORS));
    }

    /// Returns the processors that a worker is bound to. Empty if it is not bound.
    pub(super) fn of_worker(&self, number: usize) -> &[u16] {
        let list = &self.processors;
        match (number + 1).checked_rem(list.len()) {
            Some(place) if !self.are_shared => &list[place..=place],
            _ => list,
        }
    }
}

/// Binds the calling worker to its processors, if any are configured. Errors of the system are
/// ignored.
pub(super) fn bind_worker(number: usize) {
    let mut affinity = AFFINITY.lock();
    if affinity.processors.is_empty() && settings::bind() == Bind::Always {
        affinity.set_list(system::allowed_processors());
    }
    system::bind(system::THIS_THREAD, affinity.of_worker(number));
}

/// Moves a worker to another processor if it runs on this one and is not bound to it.
pub(super) fn move_off(thread: system::Thread, processor: i32) {
    // Concurrent updates of a thread's affinity would undo each other.
    let _guard = AFFINITY.lock();
    system::move_off(thread, processor);
}

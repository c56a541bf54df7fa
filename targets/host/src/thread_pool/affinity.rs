//! On which processors the workers run.

use ferrite_core::sync::Mutex;

use super::settings::{self, Bind};
use super::{system, worker};

/// The most processors in a list.
const MAX_PROCESSORS: usize = 1024;

/// Processors for the workers.
pub(crate) struct Affinity {
    processors: [u16; MAX_PROCESSORS],
    count: usize,
    /// Whether every worker may run on all of them. Otherwise they are dealt out, beginning with the second: the first one is
    /// for the launching thread.
    are_shared: bool,
}

/// The configured processors; empty until configured.
pub(crate) static AFFINITY: Mutex<Affinity> =
    Mutex::new(Affinity { processors: [0; MAX_PROCESSORS], count: 0, are_shared: false });

impl Affinity {
    fn list(&self) -> &[u16] {
        &self.processors[..self.count]
    }

    fn set_list(&mut self, processors: impl Iterator<Item = u16>) {
        self.count = 0;
        for (place, processor) in self.processors.iter_mut().zip(processors) {
            *place = processor;
            self.count += 1;
        }
    }

    /// The processors of a worker; none when it is not bound.
    fn of_worker(&self, number: usize) -> &[u16] {
        let list = self.list();
        match (number + 1).checked_rem(list.len()) {
            Some(place) if !self.are_shared => &list[place..=place],
            _ => list,
        }
    }
}

/// Binds the calling worker to its processors, if it has some. A system that refuses leaves it as it is.
pub(super) fn bind_worker(number: usize) {
    let mut affinity = AFFINITY.lock();
    if affinity.count == 0 && settings::bind() == Bind::Always {
        affinity.set_list(system::allowed_processors());
    }
    system::bind(system::THIS_THREAD, affinity.of_worker(number));
}

/// Makes workers run on these processors, those that exist and those that will.
pub(super) fn configure(processors: impl Iterator<Item = u16>, are_shared: bool) {
    if settings::bind() == Bind::Never {
        return;
    }
    let mut affinity = AFFINITY.lock();
    affinity.set_list(processors);
    affinity.are_shared = are_shared;
    for (number, thread) in worker::threads() {
        system::bind(thread, affinity.of_worker(number));
    }
    // The launching thread runs a task of every launch, and may have to run others.
    system::bind(system::THIS_THREAD, affinity.list());
}

/// Moves a worker to another processor than this one, if it is there and not bound to it.
pub(super) fn move_off(thread: system::Thread, processor: i32) {
    // Two that read and write the processors of a thread at the same time would undo each other's work.
    let _guard = AFFINITY.lock();
    system::move_off(thread, processor);
}

//! Fork handlers of this crate: the static locks that are held during a fork, in locking order, and
//! the state that is consistent without one.
//!
//! | State | Other threads at the time of the fork, and why the child is consistent |
//! |---|---|
//! | reference counts ([`refcount`](crate::object::refcount)) | Each change is one instruction; references of vanished threads are never released |
//! | contended objects (`refcount/contended.rs`) | Addresses that only serve as hints |
//! | objects in chunks ([`object_alloc`](crate::object::object_alloc)) | The chunk of another thread stays allocated. The reserve takes and stores chunks by one exchange each |
//! | queues of dying objects, raised errors, all [`per_thread`](crate::platform::sync::per_thread) state | Per thread, and unreachable in the child |
//! | the single-threaded flag (`sync/single_threaded`) | glibc maintains it; the child of a multi-threaded process counts as multi-threaded |
//! | names ([`name_table`](crate::names::name_table)) | Readers take no lock; the table's lock keeps insertions whole |
//! | retired functions ([`global_table`]) | The list is whole; announced readers of other threads are forgotten |
//! | types ([`type_table`]) | One lock keeps registrations whole. The library's own types may be registered in part: the child adds the rest |
//! | handles initialised once ([`init_once`]) | User callbacks run, which a fork cannot wait for: the child abandons the initialisations of other threads |
//! | export slots of tensors (`tensor/export_slot`) | A slot claimed by a vanished thread stays claimed, and later exports allocate |
//! | providers, launchers, built-ins, the allocator | one atomic pointer each |

use crate::call::init_once;
use crate::names::{global_table, type_table};
use crate::platform::sync::fork::{AtFork, Hook, Repaired, Ring, enlist};
use crate::platform::{stack, sync};

static PARTS: &[&dyn AtFork] = &[
    &global_table::RETIRED,
    // While `RETIRED` is held.
    &global_table::TEXTS,
    global_table::TABLE.lock(),
    &Hook::in_child(global_table::forget_readers),
    &Repaired {
        mutex: &init_once::IN_PROGRESS,
        repair: init_once::in_progress::InProgress::keep_own_thread,
    },
    &type_table::REGISTRY,
    #[cfg(feature = "speed")]
    type_table::INDEX_OF_KEY.lock(),
    #[cfg(feature = "speed")]
    type_table::OTHERS.lock(),
    &stack::PROVIDER,
    &sync::OBJECT_LOCKS,
    &sync::CRITICAL,
];

crate::at_load!(install);

/// Registers fork handlers that hold the locks of this crate during a fork. Runs automatically when
/// the program or library that contains this crate is loaded, on systems with load-time
/// constructors.
///
/// # Threads
/// Any thread. Repeated calls have no effect.
pub fn install() {
    enlist(Ring::Core, PARTS);
}

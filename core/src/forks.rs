//! The state of this crate that must be at rest during a fork: every static lock, in locking order.
//!
//! | State | Other threads at the moment of a fork, and why the child can go on |
//! |---|---|
//! | counts of references ([`refcount`](crate::refcount)) | have a reference or not, as each change is one instruction; references of threads that are gone are never given up |
//! | busy objects (`refcount/contended.rs`) | wrote an address or not: a hint |
//! | objects in chunks ([`object_alloc`](crate::object_alloc)) | own a chunk in which they make objects: it stays allocated. The reserve takes and puts chunks by one exchange each |
//! | queues of dying objects, raised errors, all that is [`per_thread`](crate::sync::per_thread) | have their own, which nobody looks at any more |
//! | whether the process has one thread (`sync/single_threaded`) | glibc tells; the child of a process with several threads counts as one with several |
//! | names ([`name_table`](crate::name_table)) | readers take no lock; the table's lock keeps insertions whole |
//! | retired functions ([`global_table`]) | the list is whole; readers that announced themselves are forgotten |
//! | types ([`type_table`]) | one lock keeps registrations whole. The library's own types may be registered in part: the child adds the rest |
//! | handles made once ([`init_once`]) | run user callbacks, which a fork cannot wait for: the child abandons what they made |
//! | room for exports in tensors (`tensor/export_slot`) | claimed it or not: a room whose claimant is gone stays claimed, and exports take memory of their own |
//! | providers, launchers, built-ins, the allocator | one atomic pointer each |

use crate::sync::fork::{AtFork, Hook, Repaired, Ring, enlist};
use crate::{global_table, init_once, stack, sync, type_table};

static PARTS: &[&dyn AtFork] = &[
    &global_table::RETIRED,
    // While `RETIRED` is held.
    &global_table::TEXTS,
    global_table::TABLE.lock(),
    &Hook::in_child(global_table::forget_readers),
    &Repaired { mutex: &init_once::IN_PROGRESS, repair: init_once::in_progress::InProgress::keep_own_thread },
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

/// Makes forks hold the locks of this crate. Happens by itself when the program or library with this crate is loaded, where
/// objects can have constructors.
///
/// # Threads
/// Any; calling it again changes nothing.
pub fn install() {
    enlist(Ring::Core, PARTS);
}

//! Checks every interleaving of a few threads in the lock-free parts of the core, with the loom
//! model checker.
//!
//! The core's own source files, and some of the thread pool's, are compiled here with loom's
//! atomics and locks: `sync.rs` beside this file replaces the core's module of that name. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p ferrite-tests --release --test loom`, in a target
//! directory of its own.
//!
//! These atomics have no model of their own:
//!
//! | Atomics | Reason |
//! |---|---|
//! | installed once: providers, launchers, built-ins, defaults, the allocator, hooks of keys | one store of a pointer to a complete static |
//! | looked up once: `CachedGlobal`, `GlobalFunction`, class indices, symbols of other libraries | one compare-and-swap or store; all writers store equal values |
//! | `growing_array.rs`, `type_table/slots`, `field_names` | words of records that C code reads, in memory of the ABI, which loom cannot watch; Miri and the thread sanitizer run their tests |
//! | `sync/flag.rs`, `minimal` | for cores whose only concurrency is interrupts, and WebAssembly |
//! | `object_alloc/chunks.rs` | a count that is released like those of `refcount` |
//! | `contended.rs`, `spin.rs`, `Worker::processor` | hints: any value is right |
//! | `process.rs` | changes in a forked child, which has one thread |
//! | `Launch::first_error`, `WORKERS` | one compare-and-swap, or one store, of a complete object; read after the join of `task_group.rs` |
#![cfg(loom)]
#![allow(
    missing_docs,
    dead_code,
    clippy::unwrap_used,
    reason = "a test that includes only parts of the core"
)]

// Files of the host crate refer to the core by name.
extern crate self as ferrite_core;

#[path = "../../../targets/host/src/fork_gate.rs"]
mod fork_gate;
mod futex;
#[path = "../../../targets/host/src/thread_pool/idle.rs"]
mod idle;
#[path = "../../../targets/host/src/thread_pool/mailbox.rs"]
mod mailbox;
#[path = "../../../targets/host/src/thread_pool/task_group.rs"]
mod task_group;

/// Polls once before sleeping, since loom branches at every poll.
mod spin {
    pub fn poll<T>(look: impl Fn() -> Option<T>) -> Option<T> {
        look()
    }
}

/// A process that never forks.
mod process {
    pub fn current() -> u32 {
        0
    }
}

#[path = "../../../core/src/object/object_alloc/chunk_reserve.rs"]
mod chunk_reserve;
#[path = "../../../core/src/tensor/export_slot/fast.rs"]
mod export_slot;
#[path = "../../../core/src/call/init_once/in_progress.rs"]
mod in_progress;
mod names {
    pub(crate) mod name_table;
}
mod refcount;
#[path = "../../../core/src/names/global_table/shared_pointer.rs"]
mod shared_pointer;
mod sync;
mod wait;

/// The modules of the core, under the paths that its files use.
mod platform {
    pub(crate) use crate::{config, memory, sync};
}

/// Opaque records, whose content the models never read.
mod abi {
    pub struct DLManagedTensor;
    pub struct DLManagedTensorVersioned;
}

/// Configuration with a small index that grows with the first and the third name, so that models
/// reach both ways of insertion.
mod config {
    pub const NAME_SLOTS: usize = 4;
    pub const NAME_LOAD_EIGHTHS: usize = 4;
}

mod error {
    pub type Result<T> = core::result::Result<T, usize>;

    pub fn out_of_memory(asked_bytes: usize) -> usize {
        asked_bytes
    }
}

mod memory {
    use core::alloc::Layout;
    use core::ptr::NonNull;

    pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: no layout of the tables has size 0.
        NonNull::new(unsafe { std::alloc::alloc(layout) })
    }

    /// # Safety
    /// The block must come from `allocate` with this layout.
    pub unsafe fn release(block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { std::alloc::dealloc(block.as_ptr(), layout) }
    }
}

mod bare_name_table_model;
mod chunk_reserve_model;
mod export_slot_model;
mod fork_gate_model;
mod init_once_model;
mod name_table_model;
mod refcount_model;
mod shared_pointer_model;
mod thread_pool_model;

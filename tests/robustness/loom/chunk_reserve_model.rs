//! Models of the reserve of free chunks: each chunk has one owner at a time, who sees the writes of
//! the one before.

use std::array;
use std::ptr::{self, NonNull};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicUsize};
use loom::thread;

use crate::chunk_reserve::{ChunkReserve, SLOTS};

/// A chunk whose accesses loom watches: two owners at once fail the model.
type Chunk = UnsafeCell<usize>;

struct Shared {
    reserve: ChunkReserve,
    chunks: [Chunk; 2],
}

impl Shared {
    /// Creates a reserve in which two chunks wait.
    fn new() -> Arc<Shared> {
        let empty = array::from_fn::<_, SLOTS, _>(|_| AtomicPtr::new(ptr::null_mut()));
        let reserve = ChunkReserve::new(empty, AtomicUsize::new(0));
        let shared = Arc::new(Shared { reserve, chunks: array::from_fn(|_| UnsafeCell::new(0)) });
        for chunk in &shared.chunks {
            assert!(shared.reserve.put(NonNull::from(chunk).cast()).is_none());
        }
        shared
    }

    /// Takes a chunk, uses it, and puts it back; then uses the chunk that the slot gives back, if
    /// any. Returns the number of uses.
    fn take_and_put(&self) -> usize {
        let Some(chunk) = self.reserve.take() else { return 0 };
        write(chunk);
        match self.reserve.put(chunk) {
            Some(other) => {
                write(other);
                2
            }
            None => 1,
        }
    }
}

// SAFETY: chunks are used by the thread that took them, which loom checks.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// Writes to a chunk as its owner.
fn write(chunk: NonNull<u8>) {
    // SAFETY: the chunks live as long as the reserve; loom checks that there is one owner.
    unsafe { chunk.cast::<Chunk>().as_ref().with_mut(|content| *content += 1) };
}

#[test]
fn a_chunk_has_one_owner_who_sees_earlier_writes() {
    loom::model(|| {
        let shared = Shared::new();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || shared.take_and_put())
            })
            .collect();
        let mut uses = shared.take_and_put();
        for other in others {
            uses += other.join().unwrap();
        }
        // SAFETY: the other threads have ended.
        let written: usize =
            shared.chunks.iter().map(|chunk| chunk.with(|content| unsafe { *content })).sum();
        assert_eq!(written, uses);
        assert!(uses > 0);
    });
}

//! Models of the room for an export in a tensor: one export at a time has it, and its writes are done when the next one comes.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::export_slot::{self, SlotFlag};

/// A tensor's room; loom watches what is in it.
struct Tensor {
    is_lent: SlotFlag,
    room: UnsafeCell<usize>,
}

// SAFETY: the room is used by those who claimed it only, which is what loom checks.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Exports into the room, unless another export is there, and ends that export.
    fn export(&self) -> bool {
        let claimed = export_slot::claim(&self.is_lent);
        if claimed {
            // SAFETY: loom checks that nobody else uses the room meanwhile.
            self.room.with_mut(|room| unsafe { *room += 1 });
            export_slot::release(&self.is_lent);
        }
        claimed
    }
}

#[test]
fn one_export_at_a_time_has_the_room() {
    loom::model(|| {
        let tensor = Arc::new(Tensor { is_lent: export_slot::vacant(), room: UnsafeCell::new(0) });
        let others: Vec<_> = (0..2)
            .map(|_| {
                let tensor = tensor.clone();
                thread::spawn(move || tensor.export())
            })
            .collect();
        let mut exports = usize::from(tensor.export());
        for other in others {
            exports += usize::from(other.join().unwrap());
        }
        assert!(exports >= 1);
        assert!(tensor.export());
        // SAFETY: the other threads have ended.
        assert_eq!(tensor.room.with(|room| unsafe { *room }), exports + 1);
    });
}

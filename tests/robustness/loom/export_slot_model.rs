//! Models of a tensor's export slot: one export at a time owns it, and the writes of an owner are
//! visible to the next.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::export_slot::{self, SlotFlag};

/// A tensor with its export slot. Loom checks accesses to its content.
struct Tensor {
    is_claimed: SlotFlag,
    slot: UnsafeCell<usize>,
}

// SAFETY: only the owner uses the slot, which loom checks.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Exports into the slot unless it is in use, and then releases the export.
    fn export(&self) -> bool {
        let claimed = export_slot::claim(&self.is_claimed);
        if claimed {
            // SAFETY: loom checks for concurrent use of the slot.
            self.slot.with_mut(|slot| unsafe { *slot += 1 });
            export_slot::release(&self.is_claimed);
        }
        claimed
    }
}

#[test]
fn one_export_at_a_time_owns_the_slot() {
    loom::model(|| {
        let tensor =
            Arc::new(Tensor { is_claimed: export_slot::vacant(), slot: UnsafeCell::new(0) });
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
        assert_eq!(tensor.slot.with(|slot| unsafe { *slot }), exports + 1);
    });
}

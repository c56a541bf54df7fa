//! Both implementations of reference counts, with the items that they import from their parent
//! module.

pub const INITIAL: u64 = 0x1_0000_0001;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    Alive,
    Both,
    StrongOnly,
}

#[path = "../../../core/src/object/refcount/atomic64.rs"]
pub mod atomic64;
#[path = "../../../core/src/object/refcount/contended.rs"]
mod contended;
#[path = "../../../core/src/object/refcount/split32.rs"]
pub mod split32;

use loom::sync::atomic::{AtomicU32, AtomicU64};

pub fn new_atomic64() -> atomic64::Counts {
    atomic64::Counts(AtomicU64::new(INITIAL))
}

pub fn new_split32() -> split32::Counts {
    split32::Counts([AtomicU32::new(1), AtomicU32::new(1)])
}

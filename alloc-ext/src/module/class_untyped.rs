//! What modules of one implementation have in common, where size counts: its operations.
#![forbid(unsafe_code)]

use super::{ModuleImpl, ModuleOps, ops};

pub(super) struct Class {
    pub ops: ModuleOps,
}

impl Class {
    pub const fn new<T: ModuleImpl>() -> Class {
        Class { ops: ops::of::<T>() }
    }
}

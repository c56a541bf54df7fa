//! Class of modules on bare metal: only the operations.
#![forbid(unsafe_code)]

use crate::module::{ModuleImpl, ModuleOps, ops};

pub(in crate::module) struct Class {
    pub ops: ModuleOps,
}

impl Class {
    pub const fn new<T: ModuleImpl>() -> Class {
        Class { ops: ops::of::<T>() }
    }
}

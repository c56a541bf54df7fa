//! Class of modules on bare metal: only the operations.
#![forbid(unsafe_code)]

use crate::module::interface::{ModuleImpl, ModuleOps};

pub(in crate::module) struct Class {
    pub ops: ModuleOps,
}

impl Class {
    pub const fn new<T: ModuleImpl>(ops: ModuleOps) -> Class {
        Class { ops }
    }
}

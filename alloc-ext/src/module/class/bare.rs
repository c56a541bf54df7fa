//! Class of modules without `module-types`: only the operations.
#![forbid(unsafe_code)]

use crate::module::interface::{ModuleImpl, ModuleOps};

pub(in crate::module) struct Class {
    pub ops: ModuleOps,
}

impl Class {
    #[expect(clippy::extra_unused_type_parameters, reason = "the other form records the type")]
    pub const fn new<T: ModuleImpl>(ops: ModuleOps) -> Class {
        Class { ops }
    }
}

//! Class of modules with `module-types`: the operations and the Rust type.
#![forbid(unsafe_code)]

use core::any::TypeId;

use crate::module::interface::{ModuleImpl, ModuleOps};

pub(in crate::module) struct Class {
    pub ops: ModuleOps,
    /// Returns the type id of the implementation. The address of the class does not identify it,
    /// since the linker may merge classes with identical code.
    type_id: fn() -> TypeId,
}

impl Class {
    pub const fn new<T: ModuleImpl>(ops: ModuleOps) -> Class {
        Class { ops, type_id: TypeId::of::<T> }
    }

    /// Returns `true` if this is the class of modules implemented by `T`.
    pub fn is_of<T: ModuleImpl>(&self) -> bool {
        (self.type_id)() == TypeId::of::<T>()
    }
}

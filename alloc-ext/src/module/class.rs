//! What modules of one implementation have in common: its operations, and its type.
#![forbid(unsafe_code)]

use core::any::TypeId;

use super::{ModuleImpl, ModuleOps, ops};

pub(super) struct Class {
    pub ops: ModuleOps,
    /// Tells implementations apart. The address of the table does not: the linker may merge tables whose functions have the
    /// same code.
    type_id: fn() -> TypeId,
}

impl Class {
    pub const fn new<T: ModuleImpl>() -> Class {
        Class { ops: ops::of::<T>(), type_id: TypeId::of::<T> }
    }

    /// Whether this is the class of modules made from a `T`.
    pub fn is_of<T: ModuleImpl>(&self) -> bool {
        (self.type_id)() == TypeId::of::<T>()
    }
}

//! Containers as fields of classes that several languages define.

use ferrite_core::class::{AbiField, AbiReference};

use super::{Array, Dict, List, Map};
use crate::module::Module;

macro_rules! references {
    ($([$($element:ident),*] $name:ty),*) => {$(
        // SAFETY: transparent over a reference to an object of the declared class, whose elements
        // are of the declared types.
        unsafe impl<$($element: AbiField),*> AbiField for $name {
            const ZERO: bool = false;
        }

        // SAFETY: transparent over the reference.
        unsafe impl<$($element: AbiField),*> AbiReference for $name {}
    )*};
}

references!([T] Array<T>, [T] List<T>, [K, V] Map<K, V>, [K, V] Dict<K, V>, [] Module);

//! Imports are appended in place, so that many of them take linear time.
#![forbid(unsafe_code)]

use ferrite_core::Any;

use super::{Module, change, of_class};
use crate::containers::ArrayObject;

/// Appends `other` where nobody has a snapshot and there is room; tells whether, or none when imports changed since `before`.
pub(super) fn append(module: &Module, other: &Module, before: usize) -> Option<bool> {
    let import = Any::from(other.clone());
    change(module, before, &mut |imports| {
        of_class::<ArrayObject>(imports).is_some_and(|imports| imports.push_in_place(&import))
    })
}

//! In-place append of imports, for speed-optimised builds: adding n imports takes linear time.
#![forbid(unsafe_code)]

use ferrite_core::Any;

use super::fields::{change, of_class};
use crate::containers::ArrayObject;
use crate::module::interface::Module;

/// Appends `other` if there is spare capacity and no snapshot of the imports exists. Returns
/// whether it was appended; `None` if the imports of any module changed since `before`.
pub(super) fn append(module: &Module, other: &Module, before: usize) -> Option<bool> {
    let import = Any::from(other.clone());
    change(module, before, &mut |imports| {
        of_class::<ArrayObject>(imports).is_some_and(|imports| imports.push_in_place(&import))
    })
}

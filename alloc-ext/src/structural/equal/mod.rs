//! Structural equality, hash and the first difference of two values.
//!
//! Values are equal when they have the same content. What a type says about its objects, see
//! [`StructuralKind`](super::StructuralKind), decides how variables and shared objects count, and may be replaced by the
//! hooks `__s_equal__` and `__s_hash__` of the type.
//!
//! | part | holds |
//! |---|---|
//! | `compare`, `compare_leaf` | the walk through two values, and what ends it |
//! | `bindings` | which variable of one side stands for which of the other |
//! | `trace` | the way to the first difference |
//! | `hash`, `hash_leaf` | the walk that hashes, likewise |
//! | `one_walk`, `known` | for boards, one walk in place of both, where no way to a difference is asked for |
//! | `tensors` | tensors as both walks see them |

mod bindings;
mod calls;
mod compare;
mod compare_leaf;
mod functions;
#[cfg(feature = "speed")]
mod hash;
mod hash_leaf;
#[cfg(any(test, not(feature = "speed")))]
mod known;
#[cfg_attr(not(feature = "speed"), path = "one_walk.rs")]
mod walks;

#[cfg(all(test, feature = "speed"))]
mod one_walk;
mod tensors;
mod trace;

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod object_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use ferrite_core::any::Any;
use ferrite_core::error::Result;

use super::DefRegion;
use crate::reflection::AccessPath;
use crate::walk::MaybeOwned;
use compare::Comparer;
use trace::Trace;

pub use functions::{FUNCTIONS, PATH_FUNCTIONS};

/// How values are compared and hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Variables that are not defined inside the values are defined where they first appear.
    pub map_free_vars: bool,
    /// Only shape and dtype of tensors count.
    pub skip_tensor_content: bool,
}

impl Options {
    fn region(self) -> DefRegion {
        if self.map_free_vars { DefRegion::PATTERN } else { DefRegion::NONE }
    }
}

/// Whether two values have the same structure.
///
/// Numbers are equal by type and bits, but every NaN equals every other one; texts by content, maps whatever their order.
///
/// # Errors
/// TypeError for an object whose type has no structural kind; InternalError for tensors whose content is not compact in
/// memory of the host; ValueError beyond the depths of [`crate::walk`], which cycles reach; those of hooks and getters;
/// MemoryError.
///
/// # Upstream
/// `StructuralEqual::Equal` in `extra/structural_equal.h`.
pub fn structural_equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    walks::equal(lhs, rhs, options)
}

/// The ways to the first difference in two values; None when they are equal.
///
/// # Errors
/// Those of [`structural_equal`].
///
/// # Upstream
/// `StructuralEqual::GetFirstMismatch` in `extra/structural_equal.h`.
pub fn first_structural_mismatch(
    lhs: &Any,
    rhs: &Any,
    options: Options,
) -> Result<Option<(AccessPath, AccessPath)>> {
    let mut comparer = Comparer::new(options.skip_tensor_content, Some(Trace::new()));
    if comparer.compare(MaybeOwned::Borrowed(lhs), MaybeOwned::Borrowed(rhs), options.region())? {
        return Ok(None);
    }
    comparer.into_trace().into_paths().map(Some)
}

/// The hash of a value, equal for values that [`structural_equal`] finds equal, with the exceptions below.
///
/// It is the same in every process and in upstream's library, except that a variable which is used, but not defined,
/// counts by its address. As upstream has it, bytes of up to seven characters hash otherwise than the same bytes in an
/// object.
///
/// # Errors
/// Those of [`structural_equal`].
///
/// # Upstream
/// `StructuralHash::Hash` in `extra/structural_hash.h`.
pub fn structural_hash(value: &Any, options: Options) -> Result<u64> {
    walks::hash(value, options)
}

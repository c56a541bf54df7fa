//! Structural equality, structural hash, and the first structural mismatch of two values.
//!
//! Values are structurally equal if they have the same content. The
//! [`StructuralKind`](super::StructuralKind) of a type determines how variables and shared objects
//! are compared. A type may replace comparison and hash by the hooks `__s_equal__` and
//! `__s_hash__`.
//!
//! | part | content |
//! |---|---|
//! | `options` | [`Options`] |
//! | `compare`, `compare_leaf` | the comparison walk, and the comparison of leaves |
//! | `bindings` | mapping between variables of the left and the right value |
//! | `trace` | the path to the first difference |
//! | `hash`, `hash_leaf` | the hash walk, and the hash of leaves |
//! | `walks` | entry points: one walk per operation, or one walk for both in size-optimised builds |
//! | `tensors` | equality and hash of tensors |

mod bindings;
mod compare;
mod compare_leaf;
mod functions;
#[cfg(feature = "speed")]
mod hash;
mod hash_leaf;
mod options;
mod tensors;
mod trace;
mod walks;

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod object_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use crate::reflection::AccessPath;
use crate::walk::MaybeOwned;
use compare::Comparer;
use trace::Trace;

pub use functions::{FUNCTIONS, PATH_FUNCTIONS};
pub use options::Options;

/// Returns `true` if two values are structurally equal.
///
/// Numbers are compared by type and bits, except that all NaNs are equal. Strings are compared by
/// content, and maps regardless of insertion order.
///
/// # Errors
/// TypeError for an object whose type has no structural kind; InternalError for tensors that are
/// not contiguous in CPU memory and whose content must be compared; ValueError beyond the depth
/// limit of [`crate::walk`], which cycles reach; errors of hooks and field getters; MemoryError.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::json;
/// use ferrite_alloc_ext::structural::equal::{Options, structural_equal, structural_hash};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (lhs, rhs) = (json::parse(b"[1, {\"a\": 2}]")?, json::parse(b"[1, {\"a\": 2}]")?);
/// let options = Options::default();
/// assert!(structural_equal(&lhs, &rhs, options)?);
/// assert_eq!(structural_hash(&lhs, options)?, structural_hash(&rhs, options)?);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `StructuralEqual::Equal` in `extra/structural_equal.h`.
pub fn structural_equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    walks::equal(lhs, rhs, options)
}

/// Returns the access paths to the first difference of two values; `None` if they are equal.
///
/// # Errors
/// Errors of [`structural_equal`].
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::structural::equal::{Options, first_structural_mismatch};
/// use ferrite_alloc_ext::{json, reflection};
///
/// # fn main() -> ferrite_core::Result<()> {
/// reflection::install()?; // access paths are objects of a reflected class
/// let (lhs, rhs) = (json::parse(b"[1, [2]]")?, json::parse(b"[1, [3]]")?);
/// let (left, _) = first_structural_mismatch(&lhs, &rhs, Options::default())?.expect("2 is not 3");
/// assert_eq!(left.depth(), 2); // `[1][0]`
/// # Ok(())
/// # }
/// ```
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

/// Returns the structural hash of a value. Structurally equal values have equal hashes, with the
/// exceptions below.
///
/// The hash is stable across processes and equal to upstream's. Exceptions: a variable that is used
/// but not defined is hashed by its address; like upstream, inline bytes (up to seven) have a
/// different hash than equal bytes on the heap.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::json;
/// use ferrite_alloc_ext::structural::equal::{Options, structural_hash};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (a, b) = (json::parse(b"[1, 2]")?, json::parse(b"[2, 1]")?);
/// assert_ne!(structural_hash(&a, Options::default())?, structural_hash(&b, Options::default())?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Errors of [`structural_equal`].
///
/// # Upstream
/// `StructuralHash::Hash` in `extra/structural_hash.h`.
pub fn structural_hash(value: &Any, options: Options) -> Result<u64> {
    walks::hash(value, options)
}

//! Equality and hash by a walk for each, for hosts: values are lent to them, and runs without objects pass in short loops.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;

use super::Options;
use super::compare::Comparer;
use super::hash::Hasher;
use crate::walk::MaybeOwned;

/// As [`structural_equal`](super::structural_equal).
pub(super) fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    Comparer::new(options.skip_tensor_content, None).compare(
        MaybeOwned::Borrowed(lhs),
        MaybeOwned::Borrowed(rhs),
        options.region(),
    )
}

/// As [`structural_hash`](super::structural_hash).
pub(super) fn hash(value: &Any, options: Options) -> Result<u64> {
    Hasher::new(options.skip_tensor_content).hash(MaybeOwned::Borrowed(value), options.region())
}

//! Equality and hash for speed-optimised builds: one walk per operation over borrowed values, with
//! tight loops over leaves.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use crate::structural::equal::Options;
use crate::structural::equal::compare::Comparer;
use crate::structural::equal::hash::Hasher;
use crate::walk::MaybeOwned;

/// Implements [`structural_equal`](crate::structural::equal::structural_equal).
pub(in crate::structural::equal) fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    Comparer::new(options.skip_tensor_content, None).compare(
        MaybeOwned::Borrowed(lhs),
        MaybeOwned::Borrowed(rhs),
        options.region(),
    )
}

/// Implements [`structural_hash`](crate::structural::equal::structural_hash).
pub(in crate::structural::equal) fn hash(value: &Any, options: Options) -> Result<u64> {
    Hasher::new(options.skip_tensor_content).hash(MaybeOwned::Borrowed(value), options.region())
}

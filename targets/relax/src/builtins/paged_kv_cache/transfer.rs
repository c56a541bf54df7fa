//! Transfer of pages between processes, which needs NVSHMEM.

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, plain_bail};

use super::record::PagedCache;

/// Message of the error for functions that transfer pages.
pub(super) const LACKING: &str =
    "Transfer of a KV cache between processes needs NVSHMEM, which this library does not support";

/// Refuses to prepare a cache as a receiver or a sender.
///
/// # Errors
/// InternalError.
pub(super) fn refuse(_cache: &PagedCache, _args: &[AnyView<'_>]) -> Result<Any> {
    plain_bail!(INTERNAL_ERROR, "{}", LACKING)
}

//! Transfer of pages between processes, which needs NVSHMEM.

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, plain_bail};

use super::config::TRANSFER_IS_LACKING;
use super::record::PagedCache;

/// Refuses to prepare a cache as a receiver or a sender.
///
/// # Errors
/// InternalError.
pub(super) fn refuse(_cache: &PagedCache, _args: &[AnyView<'_>]) -> Result<Any> {
    plain_bail!(INTERNAL_ERROR, "{}", TRANSFER_IS_LACKING)
}

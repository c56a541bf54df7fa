//! Error of a wrong number of arguments.

use ferrite_core::error::Error;
use ferrite_core::{AnyView, plain_error};

/// Returns the error of a wrong number of arguments.
#[cold]
pub(super) fn wrong_count(args: &[AnyView<'_>]) -> Error {
    plain_error!(
        TYPE_ERROR,
        "A function of a KV cache got {} arguments besides the cache",
        args.len()
    )
}

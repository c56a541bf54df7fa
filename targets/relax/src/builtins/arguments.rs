//! Arguments of builtins that take any number of them, and the contexts of their messages.

use ferrite_core::error::Result;
use ferrite_core::{AnyView, String, plain_ensure};

/// Refuses a call with fewer than `least` arguments.
///
/// # Errors
/// TypeError, where upstream reads beyond the arguments.
pub(super) fn expect(args: &[AnyView<'_>], least: usize, name: &'static str) -> Result<()> {
    plain_ensure!(
        args.len() >= least,
        TYPE_ERROR,
        "`{}` expects at least {} arguments, but got {}",
        name,
        least,
        args.len();
        "{} arguments, not {}",
        least,
        args.len()
    );
    Ok(())
}

/// The context of a check, which begins its message; empty if there is none.
pub(super) fn context(context: &Option<String>) -> &[u8] {
    context.as_ref().map_or(b"", String::as_bytes)
}

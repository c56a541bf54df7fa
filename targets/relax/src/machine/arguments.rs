//! Concatenation of argument lists for a call.

use ferrite_core::AnyView;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// Maximum number of arguments that are concatenated on the stack.
const FEW: usize = 12;

/// Runs `body` with the concatenation of two argument lists.
///
/// # Errors
/// Errors of `body`; MemoryError.
pub(crate) fn with_both<R>(
    first: &[AnyView<'_>],
    second: &[AnyView<'_>],
    body: impl FnOnce(&[AnyView<'_>]) -> Result<R>,
) -> Result<R> {
    let all = first.iter().chain(second);
    let count = first.len() + second.len();
    let mut few = [AnyView::NONE; FEW];
    if let Some(few) = few.get_mut(..count) {
        few.iter_mut().zip(all).for_each(|(place, arg)| *place = *arg);
        return body(few);
    }
    let mut many = Buffer::try_with_capacity(count)?;
    all.into_iter().try_for_each(|arg| many.try_push(*arg))?;
    body(&many)
}

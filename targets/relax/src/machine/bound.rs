//! Functions whose last arguments are bound.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Function};

use super::arguments::with_both;

/// Creates a function that calls `function` with its own arguments followed by `last`.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `VMClosure::BindLastArgs` in `src/runtime/vm/vm.cc`.
pub fn bind_last_arguments(function: Function, last: Buffer<Any>) -> Result<Function> {
    Function::from_packed(move |args| {
        with_views(&last, |last| with_both(args, last, |args| function.call_packed(args)))
    })
}

/// Runs `body` with views of owned values, as arguments.
pub(crate) fn with_views<R>(values: &[Any], body: impl FnOnce(&[AnyView<'_>]) -> R) -> R {
    // SAFETY: values are transparent over cells, as views are, and an owned value can be viewed
    // while it is borrowed.
    body(unsafe { AnyView::slice_from_raw(values.as_ptr().cast(), values.len()) })
}

/// Copies arguments into owned values.
///
/// # Errors
/// MemoryError; errors of [`AnyView::to_owned`].
pub(crate) fn to_owned_values(args: &[AnyView<'_>]) -> Result<Buffer<Any>> {
    let mut values = Buffer::try_with_capacity(args.len())?;
    for arg in args {
        values.try_push((*arg).to_owned()?)?;
    }
    Ok(values)
}

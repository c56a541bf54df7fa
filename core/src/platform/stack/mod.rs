//! Recursion limit of nested calls. When the library and user callbacks call each other too deeply,
//! calls fail before the stack overflows.
#![forbid(unsafe_code)]

use crate::platform::config;
use crate::platform::sync::per_thread;

mod bounds;

pub use bounds::TooDeep;

#[cfg(all(feature = "std", not(feature = "client")))]
pub(crate) use bounds::PROVIDER;
#[cfg(all(feature = "std", not(feature = "client")))]
pub use bounds::{StackBoundsProvider, set_provider};

/// Maximum depth of nested calls if the stack bounds are unknown.
pub const MAX_NESTED_CALLS: usize = config::NESTED_CALLS;

// Depth of nested calls without known bounds.
crate::per_thread!(static NESTED: usize = 0);

/// Runs `body`, which may run user callbacks that call the library again, unless calls are nested
/// too deep.
///
/// If the stack bounds are known, calls may nest until 128 KiB of the stack are left, or half of a
/// smaller stack. If they are unknown, or the thread runs on another stack than its own, the limit
/// is [`MAX_NESTED_CALLS`], counted over all threads in builds without `std`.
///
/// # Errors
/// Errors of `body`. [`TooDeep`], a ValueError, if the limit is reached; `body` is not called then.
///
/// # Threads
/// Any. Allocates nothing, except in the provider of stack bounds at the first call of each thread.
#[inline]
pub fn nest<R, E: From<TooDeep>>(body: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    if bounds::have_space()? {
        return body();
    }
    let _counted = NestedCall::new()?;
    body()
}

/// Guard that counts one nested call on a stack with unknown bounds, until it is dropped.
struct NestedCall;

impl NestedCall {
    fn new() -> Result<Self, TooDeep> {
        let fits = per_thread::with(&NESTED, |nested| {
            let fits = *nested < MAX_NESTED_CALLS;
            *nested += usize::from(fits);
            fits
        });
        if fits == Some(true) { Ok(Self) } else { Err(TooDeep::TooManyCalls) }
    }
}

impl Drop for NestedCall {
    fn drop(&mut self) {
        per_thread::with(&NESTED, |nested| *nested -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;

    fn depth_reached(count: &mut usize) -> Result<()> {
        *count += 1;
        nest(|| depth_reached(count))
    }

    #[test]
    fn calls_are_counted_where_the_stack_is_unknown() {
        let mut count = 0;
        let error = depth_reached(&mut count).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(count, MAX_NESTED_CALLS + 1);
        // Calls that have returned are no longer counted.
        let mut count = 0;
        assert!(depth_reached(&mut count).is_err());
        assert_eq!(count, MAX_NESTED_CALLS + 1);
    }
}

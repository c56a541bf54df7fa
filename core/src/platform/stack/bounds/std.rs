//! Stack bounds of threads on hosts.
#![forbid(unsafe_code)]

use core::ops::Range;

use super::TooDeep;
use crate::platform::sync::{Mutex, per_thread};

/// Number of bytes reserved at the low end of the stack for code that runs until the next
/// [`nest`](super::super::nest): user callbacks, and the creation of errors with backtraces.
const RESERVE: usize = 128 << 10;

/// Function that returns the address range of the calling thread's stack, or `None` if unknown.
///
/// Called once per thread; may allocate, and must not call this module.
pub type StackBoundsProvider = fn() -> Option<Range<usize>>;

pub(crate) static PROVIDER: Mutex<Option<StackBoundsProvider>> = Mutex::new(None);

/// Installs the provider of stack bounds, replacing an earlier one.
///
/// Threads that have already called [`nest`](super::super::nest) keep their bounds.
pub fn set_provider(provider: StackBoundsProvider) {
    *PROVIDER.lock() = Some(provider);
}

/// Cached stack bounds of a thread.
struct ThreadBounds {
    asked: bool,
    /// Usable addresses of the stack, without the reserve; empty if unknown.
    usable: Range<usize>,
}

crate::per_thread!(static BOUNDS: ThreadBounds = ThreadBounds { asked: false, usable: 0..0 });

/// Returns `true` if the stack certainly has space for a nested call, or `false` if its bounds are
/// unknown.
///
/// # Errors
/// [`TooDeep::StackUsedUp`].
#[inline]
pub(in crate::platform::stack) fn have_space() -> Result<bool, TooDeep> {
    let here = approximate_stack_pointer();
    let known =
        per_thread::with(&BOUNDS, |known| known.asked.then(|| known.usable.clone())).flatten();
    let usable = known.unwrap_or_else(ask);
    // The reserve of a small stack is half of it. Addresses below the reserve belong to another
    // stack, such as a coroutine's.
    if here < usable.start && usable.start - here <= RESERVE.min(usable.len()) {
        Err(TooDeep::StackUsedUp)
    } else {
        Ok(usable.contains(&here))
    }
}

fn approximate_stack_pointer() -> usize {
    let local = 0u8;
    core::hint::black_box(&raw const local).addr()
}

#[cold]
fn ask() -> Range<usize> {
    let provider = *PROVIDER.lock();
    let usable = provider.and_then(|provider| provider()).map_or(0..0, usable_part);
    per_thread::with(&BOUNDS, |known| {
        known.asked = true;
        known.usable = usable.clone();
    });
    usable
}

fn usable_part(stack: Range<usize>) -> Range<usize> {
    let reserve = RESERVE.min(stack.len() / 2);
    stack.start + reserve..stack.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_below_a_small_one_is_another_one() {
        let here = approximate_stack_pointer();
        let lowest = here + (16 << 10);
        per_thread::with(&BOUNDS, |known| {
            known.asked = true;
            known.usable = usable_part(lowest..lowest + (64 << 10));
        });
        assert_eq!(have_space().ok(), Some(false));
        // Slightly lower is the reserve of the same stack.
        let lowest = here - (16 << 10);
        per_thread::with(&BOUNDS, |known| known.usable = usable_part(lowest..lowest + (64 << 10)));
        assert!(have_space().is_err());
    }

    #[test]
    fn half_of_a_small_stack_is_usable() {
        assert_eq!(usable_part(1000..3000), 2000..3000);
        assert_eq!(usable_part(0..8 << 20), RESERVE..8 << 20);
        assert_eq!(usable_part(5..5), 5..5);
    }
}

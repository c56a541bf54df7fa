//! How far calls may nest: library and user code that call each other in turns stop before the stack ends.
#![forbid(unsafe_code)]

use core::ops::Range;

use crate::error::{Error, Result};
use crate::sync::Mutex;
use crate::sync::per_thread;
use crate::{config, plain_error};

/// Calls that may run inside one another where nobody knows the bounds of the stack.
pub const MAX_NESTED_CALLS: usize = config::NESTED_CALLS;

/// Bytes that are left for what runs until the next [`nest`]: code of users, and the making of errors with backtraces.
const RESERVE: usize = 128 << 10;

/// The addresses of the calling thread's stack, or None when nobody knows them.
///
/// It is asked once per thread, may allocate, and must not come back to this module.
pub type Provider = fn() -> Option<Range<usize>>;

static PROVIDER: Mutex<Option<Provider>> = Mutex::new(None);

/// Installs what knows the bounds of stacks on this platform; a second call replaces the first one's.
///
/// Threads that nested calls before keep what they know.
pub fn set_provider(provider: Provider) {
    *PROVIDER.lock() = Some(provider);
}

/// What a thread knows about its stack.
struct Known {
    asked: bool,
    /// From the lowest address that calls may reach to the end; empty when unknown.
    usable: Range<usize>,
    /// Calls that run without known bounds.
    nested: usize,
}

crate::per_thread!(static KNOWN: Known = Known { asked: false, usable: 0..0, nested: 0 });

/// Where the stack is, near enough.
enum Room {
    Enough,
    TooLittle,
    Unknown,
}

/// Runs `body`, which may call code of users that calls the library again.
///
/// Where the bounds of the stack are known, calls may nest until 128 KiB are left, or half of a smaller stack. Elsewhere,
/// and on stacks that are not the thread's own, [`MAX_NESTED_CALLS`] may run inside one another, counted over all threads
/// in builds without `std`.
///
/// # Errors
/// Those of `body`; ValueError, without running it, when there is no room for it.
///
/// # Threads
/// Any. Allocates nothing, but for what the [`Provider`] does in the first call of a thread.
#[inline]
pub fn nest<R>(body: impl FnOnce() -> Result<R>) -> Result<R> {
    match room() {
        Room::Enough => body(),
        Room::TooLittle => Err(used_up()),
        Room::Unknown => {
            let _counted = Counted::new()?;
            body()
        }
    }
}

fn room() -> Room {
    let here = approximate_stack_pointer();
    let known = per_thread::with(&KNOWN, |known| known.asked.then(|| known.usable.clone())).flatten();
    let usable = known.unwrap_or_else(ask);
    if usable.contains(&here) {
        Room::Enough
    } else if here < usable.start && usable.start - here <= RESERVE {
        Room::TooLittle
    } else {
        Room::Unknown
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
    per_thread::with(&KNOWN, |known| {
        known.asked = true;
        known.usable = usable.clone();
    });
    usable
}

fn usable_part(stack: Range<usize>) -> Range<usize> {
    let reserve = RESERVE.min(stack.len() / 2);
    stack.start + reserve..stack.end
}

/// A call that runs without known bounds.
struct Counted;

impl Counted {
    fn new() -> Result<Self> {
        let fits = per_thread::with(&KNOWN, |known| {
            let fits = known.nested < MAX_NESTED_CALLS;
            known.nested += usize::from(fits);
            fits
        });
        if fits == Some(true) { Ok(Self) } else { Err(too_many()) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        per_thread::with(&KNOWN, |known| known.nested -= 1);
    }
}

#[cold]
fn used_up() -> Error {
    plain_error!(VALUE_ERROR, "Calls are nested too deep: the stack of the thread is used up")
}

#[cold]
fn too_many() -> Error {
    plain_error!(VALUE_ERROR, "Calls are nested too deep: more than {} inside one another", MAX_NESTED_CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth_reached(count: &mut usize) -> Result<()> {
        *count += 1;
        nest(|| depth_reached(count))
    }

    #[test]
    fn calls_are_counted_where_the_stack_is_unknown() {
        let mut count = 0;
        let error = depth_reached(&mut count).unwrap_err();
        assert_eq!(error.kind(), b"ValueError");
        assert_eq!(count, MAX_NESTED_CALLS + 1);
        // What ended is not counted any more.
        let mut count = 0;
        assert!(depth_reached(&mut count).is_err());
        assert_eq!(count, MAX_NESTED_CALLS + 1);
    }

    #[test]
    fn half_of_a_small_stack_is_usable() {
        assert_eq!(usable_part(1000..3000), 2000..3000);
        assert_eq!(usable_part(0..8 << 20), RESERVE..8 << 20);
        assert_eq!(usable_part(5..5), 5..5);
    }
}

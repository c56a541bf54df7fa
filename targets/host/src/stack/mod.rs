//! Provider of threads' stack bounds, which limit the recursion depth of the library.

use ferrite_core::platform::stack;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod pthread_np;

#[cfg(target_vendor = "apple")]
#[path = "apple.rs"]
mod bounds;
#[cfg(all(target_os = "linux", target_env = "musl"))]
#[path = "musl.rs"]
mod bounds;
#[cfg(windows)]
#[path = "windows.rs"]
mod bounds;
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows)))]
#[path = "other.rs"]
mod bounds;
#[cfg(all(any(target_os = "linux", target_os = "android"), not(target_env = "musl")))]
use pthread_np as bounds;

/// Installs the provider of stack bounds. The library then limits its recursion depth by the
/// remaining stack of the calling thread.
///
/// # Threads
/// May be called from any thread. Takes a lock briefly. Later calls have no effect.
pub fn install() {
    // Miri lacks the functions that report the bounds.
    if cfg!(not(miri)) {
        stack::set_provider(bounds::of_this_thread);
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(miri)))]
mod tests {
    use ferrite_alloc_ext::containers::ArrayObject;
    use ferrite_alloc_ext::structural::{Flow, Structural, Visitor};
    use ferrite_core::platform::stack::{MAX_NESTED_CALLS, nest};
    use ferrite_core::{Any, Result};
    use std::cell::Cell;

    /// Runs `work` on a thread with a stack of this size, and returns its result.
    fn on_stack_of<R: Send + 'static>(bytes: usize, work: fn() -> R) -> R {
        super::install();
        std::thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap()
    }

    fn nest_all(count: &mut usize) -> Result<()> {
        *count += 1;
        nest(|| nest_all(count))
    }

    #[test]
    fn calls_nest_until_little_of_the_stack_is_left() {
        let work = || {
            let mut count = 0;
            let error = nest_all(&mut count).unwrap_err();
            assert_eq!(error.kind_bytes(), b"ValueError");
            count
        };
        let (small, large) = (on_stack_of(256 << 10, work), on_stack_of(4 << 20, work));
        assert!(small > 20, "{small}");
        assert!(large > 8 * small && large > MAX_NESTED_CALLS, "{small}, {large}");
    }

    /// Returns the recursion depth at which nested callbacks are refused.
    fn descend_by_callbacks() -> Result<usize> {
        let mut root = ArrayObject::with_capacity(0)?;
        for _ in 0..100_000 {
            root = ArrayObject::from_slice(&[Any::new(root)])?;
        }
        let count = Cell::new(0);
        let outcome = root.structural_visit(|value: ArrayObject, visitor: &mut Visitor| {
            count.set(count.get() + 1);
            value.as_slice().first().map_or(Ok(Flow::Continue(())), |child| visitor.visit(child))
        });
        let error = outcome.map(drop).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Calls are nested too deep: the stack of the thread is used up"
        );
        Ok(count.get())
    }

    #[test]
    fn callbacks_stop_before_the_stack_does() -> Result<()> {
        let (small, large) = (
            on_stack_of(256 << 10, descend_by_callbacks)?,
            on_stack_of(1 << 20, descend_by_callbacks)?,
        );
        assert!(small > 4 && large > 3 * small, "{small}, {large}");
        Ok(())
    }
}
